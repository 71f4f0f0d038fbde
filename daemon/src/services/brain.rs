//! BrainService.

use amem_core::base::settings::Settings;
use amem_core::embed::vector_space;
use amem_core::view::View;
use amem_proto::v1;
use amem_proto::v1::brain_service_server::BrainService;
use amem_proto::v1::vector_options::Kind;
use amem_store::Create;
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::Service;
use crate::convert::{moment, space};
use crate::limits::LIST_PAGE_MAX;
use crate::refusal::{Refusal, Result};

#[tonic::async_trait]
impl BrainService for Service {
    async fn create_brain(
        &self,
        request: Request<v1::CreateBrainRequest>,
    ) -> Result<Response<v1::CreateBrainResponse>, Status> {
        let request = request.into_inner();
        let options = options(&request)?;
        let brain = self.0.brains.create(&request.brain, options).await?;
        let view = brain.view();
        Ok(Response::new(v1::CreateBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
        }))
    }

    async fn open_brain(
        &self,
        request: Request<v1::OpenBrainRequest>,
    ) -> Result<Response<v1::OpenBrainResponse>, Status> {
        let brain = self.0.brains.get(&request.into_inner().brain).await?;
        let view = brain.view();
        let path = brain.path.to_str().ok_or_else(|| {
            Refusal::invalid("the folder of the brains", "its path is not UTF-8: move it")
        })?;
        Ok(Response::new(v1::OpenBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
            path: path.to_owned(),
            // Every caller is our own user, who may read our files.
            direct_read: true,
        }))
    }

    async fn list_brains(
        &self,
        request: Request<v1::ListBrainsRequest>,
    ) -> Result<Response<v1::ListBrainsResponse>, Status> {
        let request = request.into_inner();
        let open = self.0.brains.open();
        let size = match request.page_size as usize {
            0 => LIST_PAGE_MAX,
            size => size.min(LIST_PAGE_MAX),
        };
        // A token is the last name of its page: what comes and goes meanwhile disturbs no listing.
        let names = self.0.brains.names().await?;
        let from = names.partition_point(|name| *name <= request.page_token);
        let page = &names[from..names.len().min(from + size)];
        let listed = page.iter().map(|name| {
            let open = open.iter().find(|brain| brain.name == *name);
            v1::ListedBrain {
                brain: name.clone(),
                open: open.is_some(),
                moment: open.map(|brain| moment(&brain.view())),
            }
        });
        Ok(Response::new(v1::ListBrainsResponse {
            brains: listed.collect(),
            next_page_token: match page.last() {
                Some(last) if from + page.len() < names.len() => last.clone(),
                _ => String::new(),
            },
        }))
    }

    async fn checkpoint_brain(
        &self,
        request: Request<v1::CheckpointBrainRequest>,
    ) -> Result<Response<v1::CheckpointBrainResponse>, Status> {
        let brain = self.0.brains.get(&request.into_inner().brain).await?;
        let generation = brain.checkpoint().await?;
        Ok(Response::new(v1::CheckpointBrainResponse {
            moment: Some(moment(&brain.view())),
            generation: generation.0,
        }))
    }
}

fn options(request: &v1::CreateBrainRequest) -> Result<Create> {
    let mut options = Create {
        settings: Settings::parse(&request.settings_json)?,
        ..Create::default()
    };
    if let Some(vectors) = &request.vectors {
        options.dimension = vectors.dimension;
        options.space = match &vectors.kind {
            None => Uuid::nil(),
            Some(Kind::Space(text)) => space(text)?.unwrap_or_default(),
            Some(Kind::Model(model)) => vector_space(model, vectors.dimension),
        };
    }
    Ok(options)
}

fn info(name: &str, view: &View) -> v1::BrainInfo {
    let identity = view.identity();
    v1::BrainInfo {
        brain: name.to_owned(),
        lineage: identity.lineage.to_string(),
        dimension: view.vector_dimension(),
        space: identity.space.to_string(),
        generation: identity.generation.0,
    }
}
