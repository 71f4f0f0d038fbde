//! The page of metrics, collected once for all requests that wait for it.
//!
//! Promises: a request gets values that were collected after it arrived; one task collects at a time, pauses for
//! `METRICS_REST` in between, and continues if a request that waits for it is dropped.

use std::future::Future;
use std::sync::Arc;

use amem_engine::tasks::AnyFuture;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::limits::METRICS_REST;
use crate::refusal::{Refusal, Result};

/// The newest page.
#[derive(Debug, Clone, Default)]
pub(super) struct PageCache(Arc<Mutex<Option<CachedPage>>>);

#[derive(Debug)]
struct CachedPage {
    /// When its collection began, and ended.
    begun: Instant,
    ended: Instant,
    page: Result<Arc<str>>,
}

impl PageCache {
    /// A page that was collected after this call: by `gather`, or for another request.
    pub(super) fn page<F>(&self, gather: F) -> impl Future<Output = Result<Arc<str>>> + Send
    where
        F: Future<Output = Result<String>> + Send + 'static,
    {
        self.collected(Box::pin(gather))
    }

    async fn collected(&self, gather: AnyFuture<Result<String>>) -> Result<Arc<str>> {
        let asked = Instant::now();
        // The lock is fair: requests that waited for the same page find it here.
        let mut newest = self.0.clone().lock_owned().await;
        if let Some(newest) = newest.as_ref().filter(|newest| newest.begun >= asked) {
            return newest.page.clone();
        }
        // A task of its own continues if this request is dropped.
        let gathering = tokio::spawn(async move {
            if let Some(newest) = newest.as_ref() {
                sleep_until(newest.ended + METRICS_REST).await;
            }
            let begun = Instant::now();
            let page = gather.await.map(Arc::from);
            *newest = Some(CachedPage {
                begun,
                ended: Instant::now(),
                page: page.clone(),
            });
            page
        });
        match gathering.await {
            Ok(page) => page,
            Err(_) => Err(Refusal::internal(
                "a defect stopped the collection of metrics",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use tokio::time::sleep;

    #[tokio::test]
    async fn who_asks_at_the_same_time_gets_one_page_and_never_one_from_before() {
        let (cache, count) = (PageCache::default(), Arc::new(AtomicU64::new(0)));
        let ask = || {
            let (cache, count) = (cache.clone(), count.clone());
            tokio::spawn(async move {
                let gather = async move {
                    sleep(Duration::from_millis(20)).await;
                    Ok((1 + count.fetch_add(1, Ordering::Relaxed)).to_string())
                };
                cache.page(gather).await.unwrap()
            })
        };
        let first = ask();
        sleep(Duration::from_millis(5)).await;
        let asked: Vec<_> = (0..1000).map(|_| ask()).collect();
        assert_eq!(&*first.await.unwrap(), "1");
        for page in asked {
            assert_eq!(&*page.await.unwrap(), "2");
        }
        assert_eq!(&*ask().await.unwrap(), "3");
        // A dropped request stops nothing, and begins nothing twice.
        let begun = Instant::now();
        for _ in 0..50 {
            let asks = ask();
            sleep(Duration::from_millis(1)).await;
            asks.abort();
        }
        let page: u64 = ask().await.unwrap().parse().unwrap();
        let most = 4 + begun.elapsed().as_millis() / METRICS_REST.as_millis() + 1;
        assert!(u128::from(page) <= most, "{page} of {most}");
    }

    #[tokio::test]
    async fn a_defect_is_one_pages() {
        let cache = PageCache::default();
        let defect = cache.page(async { panic!("a defect of a test") }).await;
        assert_eq!(defect.unwrap_err().code, amem_proto::answer::Code::Internal);
        let page = cache.page(async { Ok("metrics".to_owned()) }).await;
        assert_eq!(&*page.unwrap(), "metrics");
    }
}
