//! `amemctl service`: amemd as a service that starts by itself.

use clap::{Args, Subcommand};

use super::service_common::WhichService;
use super::service_install::InstallArgs;
use super::service_status;
use super::service_uninstall::UninstallArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::Context;

#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    act: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    /// Has amemd begin by itself, for you or for all users of the machine.
    Install(InstallArgs),
    /// Takes that back; brains stay.
    Uninstall(UninstallArgs),
    /// Tells how the service is, and whether it runs what is installed.
    #[command(after_help = "Examples:
  amemctl service status
  amemctl service status --system")]
    Status(WhichService),
}

impl ServiceArgs {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        match &self.act {
            ServiceCommand::Install(install) => install.run(cx),
            ServiceCommand::Uninstall(uninstall) => uninstall.run(cx),
            ServiceCommand::Status(which) => service_status::run(*which, cx),
        }
    }
}
