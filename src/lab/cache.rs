//! A folder of compiled objects as its owner sees it: what is in it, and less of it.

use std::path::PathBuf;

use super::error::LabError;
use crate::compile::{Cache, Inventory, Stock, Used};
use crate::model::{CACHE_SCHEMA, CacheLimit, CacheShare, CacheState};
use crate::store::utc_date;

/// Where labs keep what they compile.
pub struct CacheFolder(PathBuf);

impl CacheFolder {
    /// None: the user's.
    pub fn at(folder: Option<PathBuf>) -> CacheFolder {
        CacheFolder(folder.unwrap_or_else(Cache::default_folder))
    }

    /// What is in it. A folder that is not there is an empty one; one that is no cache is an error.
    pub fn look(&self) -> Result<CacheState, LabError> {
        let stock = Stock::open(&self.0)?;
        Ok(self.state(stock.as_ref(), CacheLimit::default(), None))
    }

    /// Removes what was used longest ago, until the rest is no larger than this.
    pub fn trim(&self, limit: CacheLimit) -> Result<CacheState, LabError> {
        let stock = Stock::open(&self.0)?;
        let most = match limit {
            CacheLimit::Bytes(bytes) => bytes,
            CacheLimit::Unlimited => u64::MAX,
        };
        let freed = stock.as_ref().map(|stock| stock.trim(most, &Used::default()));
        Ok(self.state(stock.as_ref(), limit, Some(freed.unwrap_or_default())))
    }

    /// Removes all that is the cache's own. Processes at work keep what they use.
    pub fn clear(&self) -> Result<CacheState, LabError> {
        let freed = Stock::open(&self.0)?.map(|stock| stock.clear()).unwrap_or_default();
        // Maybe somebody is using it.
        let left = Stock::open(&self.0).ok().flatten();
        Ok(self.state(left.as_ref(), CacheLimit::default(), Some(freed)))
    }

    fn state(&self, stock: Option<&Stock>, limit: CacheLimit, freed: Option<CacheShare>) -> CacheState {
        let Inventory { objects, recipes, libraries, temporary, others, oldest_use, newest_use } =
            stock.map(Stock::count).unwrap_or_default();
        CacheState {
            schema: CACHE_SCHEMA,
            folder: self.0.display().to_string(),
            exists: stock.is_some(),
            bytes: [objects, recipes, libraries].iter().map(|share| share.bytes).sum(),
            limit,
            objects,
            recipes,
            libraries,
            temporary,
            others,
            oldest_use: oldest_use.map(utc_date),
            newest_use: newest_use.map(utc_date),
            freed,
        }
    }
}
