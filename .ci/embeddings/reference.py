#!/usr/bin/env python3
"""What sentence-transformers makes of texts: `reference.py OUT MINILM` writes folders of models below OUT, each with
`reference.json`: texts, their tokens and their vectors, as queries and as passages.

MINILM is the folder of all-MiniLM-L6-v2. The other models have random weights: they differ in what their files say.
`reference.py --tiny FOLDER TEXTS.json OUT.json` writes the vectors of a model that is there.
"""
import json
import os
import shutil
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from sentence_transformers import SentenceTransformer
from transformers import BertConfig, BertModel

import texts as samples

torch.manual_seed(7)
torch.set_num_threads(max(1, os.cpu_count() or 1))
QUERY = "Represent this sentence for searching relevant passages: "


def rows(model, texts):
    """Tokens and vectors of texts, one at a time: padding would change the last digits."""
    most = model.max_seq_length
    encode = lambda text: model.tokenizer(text, truncation=True, max_length=most)["input_ids"]
    query = model.prompts.get("query", "")
    # `encode_document` takes the prompt "document", which is empty by default, even if there is one for "passage".
    passage = next((model.prompts[n] for n in ("document", "passage", "corpus") if model.prompts.get(n)), "")
    options = {"batch_size": 1, "show_progress_bar": False, "convert_to_numpy": True}
    passages = model.encode(texts, prompt=passage, **options)
    queries = model.encode_query(texts, **options) if query != passage else passages
    return [
        {
            "text": text,
            "passage_tokens": encode(passage + text),
            "query_tokens": encode(query + text),
            "passage": [float(x) for x in passages[at]],
            "query": [float(x) for x in queries[at]],
        }
        for at, text in enumerate(texts)
    ]


def write(folder, texts):
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32, "attn_implementation": "eager"})
    model.eval()
    with open(folder / "reference.json", "w") as out:
        json.dump({"rows": rows(model, texts)}, out)
    return model


def settings(folder, **files):
    for name, value in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(value))


def shaped(folder, minilm, dtype, config, pooling, normalise, prompts, length):
    """A model of random weights with the vocabulary of MiniLM, in the files that older versions wrote."""
    folder.mkdir()
    # Wider than the usual 0.02: else every text would have nearly the same vector.
    config = BertConfig(vocab_size=30522, initializer_range=0.06, **config)
    model = BertModel(config).eval()
    for name, parameter in model.named_parameters():
        if "LayerNorm" in name or name.endswith("bias"):
            torch.nn.init.normal_(parameter, mean=1.0 if name.endswith("LayerNorm.weight") else 0.0, std=0.1)
    model.to(dtype).save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(minilm / name, folder)
    kinds = ["Transformer", "Pooling"] + ["Normalize"] * normalise
    modules = [
        {"idx": at, "name": str(at), "path": f"{at}_{kind}" if at else "", "type": f"sentence_transformers.models.{kind}"}
        for at, kind in enumerate(kinds)
    ]
    settings(
        folder,
        modules=modules,
        sentence_bert_config={"max_seq_length": length, "do_lower_case": False},
        config_sentence_transformers={"__version__": {}, "prompts": prompts, "default_prompt_name": None},
    )
    mode = {"cls": pooling == "cls", "mean": pooling == "mean"}
    settings(
        folder,
        **{
            "1_Pooling__config": {
                "word_embedding_dimension": config.hidden_size,
                "pooling_mode_cls_token": mode["cls"],
                "pooling_mode_mean_tokens": mode["mean"],
                "pooling_mode_max_tokens": False,
            }
        },
    )


def main(out, minilm):
    texts = samples.texts()
    shutil.copytree(minilm, out / "minilm")
    model = write(out / "minilm", texts)
    shape = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}
    shaped(out / "bge-small-shape", minilm, torch.float32, shape, "cls", True, {"query": QUERY}, 512)
    write(out / "bge-small-shape", texts)
    shape = {"hidden_size": 240, "num_hidden_layers": 3, "num_attention_heads": 6, "intermediate_size": 1000}
    e5 = {"query": "query: ", "passage": "passage: "}
    for name, dtype in (("half", torch.float16), ("bfloat", torch.bfloat16)):
        shaped(out / name, minilm, dtype, shape | {"hidden_act": "gelu_new"}, "mean", False, e5, 300)
        write(out / name, texts)
    # The files that the installed version writes.
    model.save(str(out / "saved"))
    write(out / "saved", texts[:100])
    with open(out / "minilm" / "characters.json", "w") as file:
        characters = list(samples.characters())
        tokens = [model.tokenizer(text, truncation=True, max_length=512)["input_ids"] for text in characters]
        longest = max(map(len, tokens))
        assert longest < 512, f"a text of characters is cut off: {longest} tokens"
        json.dump({"rows": [{"text": t, "tokens": i} for t, i in zip(characters, tokens)]}, file)


if __name__ == "__main__":
    if sys.argv[1] == "--tiny":
        folder, given, out = sys.argv[2:]
        model = SentenceTransformer(folder, device="cpu", model_kwargs={"attn_implementation": "eager"})
        found = rows(model.eval(), json.loads(Path(given).read_text()))
        for row in found:
            for key in ("passage", "query"):
                row[key] = [float(f"{x:.8g}") for x in row[key]]
        lines = ",\n".join(json.dumps(row) for row in found)
        Path(out).write_text(f'{{"rows": [\n{lines}\n]}}\n')
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
