//! `amemctl mcp`: memory for an agent, over the Model Context Protocol on stdin and stdout.

use amem_mcp::CompatSet;
use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::mcp::{ProjectSource, SourceOptions, serve};
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  claude mcp add memory -- amemctl mcp
  codex mcp add memory -- amemctl mcp
  amemctl mcp --project acme/shop --brain work

The project is that of AMEM_PROJECT, CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR, or the working folder: its repository, else
the folder. What .amem.toml or the git remote names counts once `amemctl project allow` was answered there. In the home
folder there is only the user's memory.")]
pub(crate) struct McpArgs {
    /// The brain [default: that of .amem.toml, else memories]
    #[arg(long, env = "AMEM_BRAIN", value_name = "NAME", hide_env_values = true)]
    brain: Option<String>,
    /// The project, or its folder as an absolute path [default: that of the working folder]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Also offer the tools of another memory server
    #[arg(long, value_name = "SET")]
    compat: Vec<CompatTools>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompatTools {
    /// add_memory, search_memories and others.
    Mem0,
    /// create_entities, read_graph and others, of the knowledge graph server.
    Memory,
    /// search and fetch.
    Openai,
}

impl McpArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let compat = self.compat.iter().map(|set| match set {
            CompatTools::Mem0 => CompatSet::Mem0,
            CompatTools::Memory => CompatSet::Memory,
            CompatTools::Openai => CompatSet::Openai,
        });
        let options = SourceOptions {
            brain: self.brain.clone().filter(|name| !name.is_empty()),
            project: self.project.clone().filter(|name| !name.is_empty()),
        };
        let source = ProjectSource::new(cx.reach().clone(), options);
        serve(source, compat.collect()).map_err(|error| {
            let remedy =
                "start it from a client of MCP, such as `claude mcp add memory -- amemctl mcp`";
            Failure::new(Exit::Usage, "mcp", error.to_string(), remedy)
        })?;
        Ok(Exit::Ok)
    }
}
