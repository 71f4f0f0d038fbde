//! Every event of a selection, one after the other, however many there are.

use amem_client::v1;

use crate::brain::opened::BrainHandle;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// Events of one answer.
const PAGE_EVENTS: u32 = 1_000;

/// Calls with each event of a selection, the oldest first; hidden and compressed ones are among them.
pub(crate) fn each_event(
    cx: &mut CommandContext,
    opened: &BrainHandle,
    selection: v1::Selection,
    mut each: impl FnMut(&v1::Event),
) -> Result<(), Failure> {
    let mut request = v1::PatternRequest {
        selection: Some(v1::Selection {
            include_forgotten: true,
            include_compressed: true,
            ..selection
        }),
        order: v1::Order::Oldest.into(),
        page_size: PAGE_EVENTS,
        touch: Some(false),
        ..v1::PatternRequest::default()
    };
    loop {
        let page = match opened.ask(cx, request.clone()) {
            Ok(page) => page,
            // Long texts: fewer of them are an answer.
            Err(failure) if failure.code == "message_size" && request.page_size > 1 => {
                request.page_size /= 2;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        page.events.iter().for_each(&mut each);
        if page.next_page_token.is_empty() {
            return Ok(());
        }
        (request.page_token, request.page_size) = (page.next_page_token, PAGE_EVENTS);
    }
}
