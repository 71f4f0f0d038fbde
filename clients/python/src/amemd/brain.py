"""One brain: what it can be told (`_writing`), what it can be asked (`_asking`), and following what is told to it.

What every call does, costs and refuses is told in the protos, proto/proto/amem/v1.
"""

from __future__ import annotations

from typing import Optional

from ._asking import Asking
from ._convert import given
from ._follow import Commits


class Brain(Asking):
    """A brain of a daemon. For any number of threads."""

    def subscribe(
        self,
        after_lsn: Optional[int] = None,
        *,
        instance: Optional[str] = None,
        include_vectors: bool = False,
        include_forgotten: bool = False,
    ) -> Commits:
        """Follows the commits after an LSN, 0 being from the first, or from now on. An LSN that was kept from before is
        of the instance that it was kept with; of this brain's if none is given.

        It goes on by itself after a lost connection. Refused with reason COMMITS_GONE says that commits after the LSN
        are not held any more, and in `metadata` after which they are.
        """
        request = given(
            brain=self.name, after_lsn=after_lsn, include_vectors=include_vectors, include_forgotten=include_forgotten
        )
        if after_lsn is not None:
            request["instance"] = instance or self.instance
        commits = Commits(self._caller, request)
        return commits.begin() if after_lsn is None else commits
