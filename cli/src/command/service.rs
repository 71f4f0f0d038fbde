//! `amemctl service`: amemd as a service that starts by itself.

use clap::{Args, Subcommand};

use super::service_common::WhichService;
use super::service_install::InstallArgs;
use super::service_status;
use super::service_uninstall::UninstallArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    act: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    /// Installs the service, for you or for all users of the machine.
    Install(InstallArgs),
    /// Uninstalls it; brains stay.
    Uninstall(UninstallArgs),
    /// Shows the state of the service, and whether it runs the installed version.
    #[command(after_help = "Examples:
  amemctl service status
  amemctl service status --system")]
    Status(WhichService),
}

impl ServiceArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            ServiceCommand::Install(install) => install.run(cx),
            ServiceCommand::Uninstall(uninstall) => uninstall.run(cx),
            ServiceCommand::Status(which) => service_status::run(*which, cx),
        }
    }
}
