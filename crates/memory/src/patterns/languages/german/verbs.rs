//! Verbs of German: endings of the regular ones, and all forms of the others.

use crate::patterns::languages::pairs::Pairs;

pub(super) const CLASSES: Pairs = &[
    ("weak", "*e/*t/*en/*en p:*te/*te/*ten/*ten .ge*t ~*en"),
    (
        "weak-et",
        "*e/*et/*en/*en p:*ete/*ete/*eten/*eten .ge*et ~*en",
    ),
    (
        "weak-eln",
        "*le/*elt/*eln/*eln p:*elte/*elte/*elten/*elten .ge*elt ~*eln",
    ),
    // "besuchen", "studieren": no "ge-".
    ("bare", "*e/*t/*en/*en p:*te/*te/*ten/*ten .*t ~*en"),
    (
        "bare-et",
        "*e/*et/*en/*en p:*ete/*ete/*eten/*eten .*et ~*en",
    ),
];

pub(super) const VERBS: &[(&str, &str, &str)] = &[
    ("be|was", "=", "bin/ist/sind/sind p:war/war/waren/waren"),
    (
        "have|had",
        "=",
        "habe/hat/haben/haben hab/hat/-/- p:hatte/hatte/hatten/hatten ~haben",
    ),
    ("will", "=", "werde/wird/werden/werden"),
    (
        "want|wanted",
        "=",
        "will/will/wollen/wollen p:wollte/wollte/wollten/wollten",
    ),
    ("wish", "=", "möchte/möchte/möchten/möchten"),
    ("would", "=", "würde/würde/würden/würden"),
    ("can|could", "=", "kann/kann/können/können"),
    ("be called|was called", "=", "heiße/heißt/heißen/heißen"),
    (
        "come|came",
        "=",
        "komme/kommt/kommen/kommen stamme/stammt/stammen/stammen",
    ),
    ("live|lived", "weak", "wohn leb"),
    (
        "move|moved",
        "=",
        "ziehe/zieht/ziehen/ziehen p:zog/zog/zogen/zogen .gezogen .umgezogen .hergezogen ~ziehen ~umziehen ~umzuziehen",
    ),
    (
        "move|moved",
        "=",
        "ziehe_um/zieht_um/ziehen_um/ziehen_um p:zog_um/zog_um/zogen_um/zogen_um",
    ),
    ("grow|grew up", "=", "-/-/-/- .aufgewachsen"),
    ("bear|was born", "=", "-/-/-/- .geboren"),
    ("marry|am married", "=", "-/-/-/- .verheiratet"),
    ("engage|am engaged", "=", "-/-/-/- .verlobt"),
    (
        "marry|married",
        "=",
        "heirate/heiratet/heiraten/heiraten p:heiratete/heiratete/heirateten/heirateten .geheiratet ~heiraten",
    ),
    ("work|worked", "weak-et", "arbeit"),
    ("join|joined", "=", "fange_an/fängt_an/fangen_an/fangen_an"),
    ("quit|quit", "weak", "kündig"),
    ("lead|led", "weak-et", "leit"),
    ("prefer|preferred", "bare", "bevorzug"),
    (
        "like|liked",
        "=",
        "mag/mag/mögen/mögen p:mochte/mochte/mochten/mochten",
    ),
    ("love|loved", "weak", "lieb"),
    ("hate|hated", "weak", "hass"),
    (
        "hate|hated",
        "=",
        "hasse/hasst/hassen/hassen verabscheue/verabscheut/verabscheuen/verabscheuen",
    ),
    ("use|used", "weak", "nutz"),
    (
        "use|used",
        "=",
        "nutze/nutzt/nutzen/nutzen benutze/benutzt/benutzen/benutzen verwende/verwendet/verwenden/verwenden \
            .genutzt .benutzt .verwendet ~nutzen ~benutzen ~verwenden p:nutzte/nutzte/nutzten/nutzten p:benutzte/benutzte/benutzten/benutzten",
    ),
    // "Wir nehmen yarn"; what one person takes may be a pill or a train.
    ("use|used", "=", "-/-/nehmen/nehmen"),
    ("take|took", "=", "nehme/nimmt/-/- .genommen"),
    (
        "take|took",
        "=",
        "nehme_ein/nimmt_ein/nehmen_ein/nehmen_ein",
    ),
    (
        "switch|switched",
        "=",
        "wechsle/wechselt/wechseln/wechseln .gewechselt .umgestiegen ~wechseln ~umsteigen ~umzusteigen \
            steige_um/steigt_um/steigen_um/steigen_um",
    ),
    ("deploy|deployed", "bare", "deploy"),
    ("program|programmed", "bare", "programmier"),
    ("buy|bought", "weak", "kauf"),
    ("sell|sold", "bare", "verkauf"),
    ("own|owned", "=", "besitze/besitzt/besitzen/besitzen"),
    (
        "lose|lost",
        "=",
        "-/-/-/- .verloren p:verlor/verlor/verloren/verloren",
    ),
    (
        "drive|drove",
        "=",
        "fahre/fährt/fahren/fahren .gefahren ~fahren",
    ),
    ("study|studied", "bare", "studier"),
    ("learn|learned", "weak", "lern"),
    ("graduate|graduated", "=", "-/-/-/- .abgeschlossen"),
    ("build|built", "weak", "bau"),
    (
        "develop|developed",
        "=",
        "entwickle/entwickelt/entwickeln/entwickeln .entwickelt ~entwickeln ~entwickeln",
    ),
    (
        "write|wrote",
        "=",
        "schreibe/schreibt/schreiben/schreiben .geschrieben ~schreiben p:schrieb/schrieb/schrieben/schrieben",
    ),
    ("publish|published", "bare", "veröffentlich"),
    (
        "choose|chose",
        "=",
        "-/-/-/- .entschieden .ausgesucht .gewählt .ausgewählt p:entschied/entschied/entschieden/entschieden",
    ),
    (
        "decide|decided",
        "=",
        "-/-/-/- .beschlossen p:beschloss/beschloss/beschlossen/beschlossen",
    ),
    ("suffer|suffered", "=", "leide/leidet/leiden/leiden"),
    ("break|broke", "=", "-/-/-/- .gebrochen"),
    ("play|played", "weak", "spiel"),
    ("train|trained", "bare", "trainier"),
    (
        "swim|swam",
        "=",
        "schwimme/schwimmt/schwimmen/schwimmen .geschwommen ~schwimmen",
    ),
    (
        "hike|hiked",
        "=",
        "wandere/wandert/wandern/wandern .gewandert ~wandern",
    ),
    (
        "climb|climbed",
        "=",
        "klettere/klettert/klettern/klettern .geklettert ~klettern",
    ),
    (
        "sing|sang",
        "=",
        "singe/singt/singen/singen .gesungen ~singen",
    ),
    ("dance|danced", "weak", "tanz"),
    ("cook|cooked", "weak", "koch"),
    (
        "bake|baked",
        "=",
        "backe/backt/backen/backen .gebacken ~backen",
    ),
    ("eat|ate", "=", "esse/isst/essen/essen .gegessen ~essen"),
    (
        "drink|drank",
        "=",
        "trinke/trinkt/trinken/trinken .getrunken ~trinken",
    ),
    ("smoke|smoked", "weak", "rauch"),
    ("read|read", "=", "lese/liest/lesen/lesen .gelesen ~lesen"),
    ("collect|collected", "weak-eln", "samm"),
    (
        "volunteer|volunteered",
        "=",
        "engagiere/engagiert/engagieren/engagieren",
    ),
    (
        "speak|spoke",
        "=",
        "spreche/spricht/sprechen/sprechen .gesprochen ~sprechen",
    ),
    ("meet|met", "=", "-/-/-/- .getroffen .kennengelernt"),
    ("visit|visited", "bare", "besuch"),
    (
        "travel|traveled",
        "=",
        "reise/reist/reisen/reisen .gereist ~reisen",
    ),
    (
        "fly|flew",
        "=",
        "fliege/fliegt/fliegen/fliegen .geflogen ~fliegen",
    ),
    (
        "start|started",
        "=",
        "-/-/-/- .angefangen .begonnen ~anfangen ~anzufangen",
    ),
    ("finish|finished", "=", "-/-/-/- .beendet .fertiggestellt"),
    ("win|won", "=", "-/-/-/- .gewonnen"),
    ("pass|passed", "=", "-/-/-/- .bestanden"),
    ("get|got", "=", "-/-/-/- .bekommen .erhalten"),
    ("adopt|adopted", "=", "-/-/-/- .adoptiert"),
    ("book|booked", "=", "-/-/-/- .gebucht"),
    ("stop|stopped", "=", "-/-/-/- .aufgehört"),
    ("renovate|renovated", "bare", "renovier"),
    ("plan|planned", "weak", "plan"),
    ("go|went", "=", "-/-/-/- .gegangen ~gehen"),
    ("know|knew", "=", "~wissen"),
    ("tell|told", "=", "~sagen ~erzählen ~fragen"),
    ("show|showed", "=", "~zeigen"),
    ("see|saw", "=", "~sehen ~schauen"),
];
