//! Whose memory a request is about: brain, project, user.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// The project of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectName {
    /// What new memories are stored under: the field `app` of their scope.
    pub id: String,
    /// Ids that it had before.
    pub earlier_ids: Vec<String>,
    /// How people call it.
    pub label: String,
}

/// Where a request reads and writes.
#[derive(Debug, Clone)]
pub struct MemoryPlace {
    /// The brain; the default of fact memory if empty.
    pub brain: String,
    /// The project; `None` where there is none.
    pub project: Option<ProjectName>,
    /// The user: the field `user` of the scope of memories that hold in every project.
    pub user: String,
    /// The zone of days and of times without an offset.
    pub zone: TimeZone,
    /// How a caller names the project, where a request can leave it out by mistake. A write asks for it then.
    pub naming: Option<&'static str>,
    /// What a brief ends with, such as what the folder claims.
    pub notice: Option<String>,
}

/// Which memories a request means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Those of the project.
    Project,
    /// Those of the user that belong to no project.
    User,
    /// Both; for a new memory the project, or the user where there is none.
    All,
}

impl MemoryPlace {
    /// The brain's name, also if it is the default.
    pub(crate) fn brain_name(&self) -> &str {
        match self.brain.as_str() {
            "" => "memories",
            name => name,
        }
    }

    /// The name of the zone, for days that a question names; empty for one that has none.
    pub(crate) fn zone_name(&self) -> String {
        self.zone.iana_name().unwrap_or_default().to_owned()
    }

    /// What a read looks into, in words: "project shop", "the memory of user ada".
    pub(crate) fn searched(&self, reach: Reach) -> String {
        let user = format!("the memory of user {}", self.user);
        match (reach, &self.project) {
            (Reach::User, _) => user,
            (_, Some(_)) => self.in_words(),
            (_, None) => match self.naming {
                Some(naming) => format!("{user}, and in no project: {naming}"),
                None => user,
            },
        }
    }

    /// Refuses to write what would hold in every project only because no project is named.
    ///
    /// # Errors
    /// No project is named where one can be.
    pub(crate) fn check_project_named(&self) -> Result<(), String> {
        match (&self.project, self.naming) {
            (None, Some(naming)) => Err(format!(
                "no project is named: {naming}; or say scope \"user\" for what holds for user {} in every project",
                self.user
            )),
            _ => Ok(()),
        }
    }

    /// The place in words, for "nothing known … in".
    pub fn in_words(&self) -> String {
        match &self.project {
            Some(project) => format!("project {}", project.label),
            None => format!("the memory of user {}", self.user),
        }
    }

    fn project_ids(&self) -> Option<Vec<&str>> {
        let project = self.project.as_ref()?;
        let earlier = project.earlier_ids.iter().map(String::as_str);
        Some(
            std::iter::once(project.id.as_str())
                .chain(earlier)
                .collect(),
        )
    }

    /// The filter of the memories in reach, and of a condition. A memory of the user has no project.
    ///
    /// # Errors
    /// There is no project.
    pub fn filter(&self, reach: Reach, and: Vec<Value>) -> Result<String, String> {
        let user = json!({"AND": [
            {"user_id": self.user},
            {"field": "app_id", "operator": "eq", "value": null},
        ]});
        let project = self.project_ids().map(|ids| json!({"app_id": {"in": ids}}));
        let reached = match (reach, project) {
            (Reach::User, _) | (Reach::All, None) => user,
            (Reach::Project, Some(project)) => project,
            (Reach::All, Some(project)) => json!({"OR": [project, user]}),
            (Reach::Project, None) => return Err(self.no_project()),
        };
        let mut all = vec![reached];
        all.extend(and);
        Ok(json!({"AND": all}).to_string())
    }

    pub(crate) fn no_project(&self) -> String {
        match self.naming {
            Some(naming) => {
                format!("no project is named: {naming}; or say scope \"user\" for what holds in every project")
            }
            None => {
                "there is no project here, only what holds for the user: leave scope out, or say \"user\""
                    .to_owned()
            }
        }
    }

    /// True if a memory of this scope is the project's or the user's.
    pub(crate) fn is_visible(&self, scope: Option<&amem_proto::v1::Scope>) -> bool {
        let Some(scope) = scope else { return false };
        match (&scope.app, &scope.user) {
            (Some(app), _) => self
                .project_ids()
                .is_some_and(|ids| ids.contains(&app.as_str())),
            (None, Some(user)) => *user == self.user,
            (None, None) => false,
        }
    }
}
