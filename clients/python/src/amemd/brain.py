"""One brain: writes (`_writing`), queries (`_asking`), and the subscription to its commits.

The protos, proto/proto/amem/v1, document what every call does, costs and refuses.
"""

from __future__ import annotations

from typing import Optional

from ._asking import Asking
from ._convert import given
from ._follow import Commits


class Brain(Asking):
    """A brain of a daemon. Thread-safe."""

    def subscribe(
        self,
        after_lsn: Optional[int] = None,
        *,
        instance: Optional[str] = None,
        include_vectors: bool = False,
        include_forgotten: bool = False,
    ) -> Commits:
        """Follows the commits after an LSN (0: from the first), by default from now on. `instance` is the instance to
        which a stored LSN belongs; default: this brain's.

        The subscription resumes by itself after a lost connection. Refused with reason COMMITS_GONE means that the
        daemon no longer has the commits after the LSN; `metadata` names the oldest LSN from which it has.
        """
        request = given(
            brain=self.name, after_lsn=after_lsn, include_vectors=include_vectors, include_forgotten=include_forgotten
        )
        if after_lsn is not None:
            request["instance"] = instance or self.instance
        commits = Commits(self._caller, request)
        return commits.begin() if after_lsn is None else commits
