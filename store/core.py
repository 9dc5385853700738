"""SQLAlchemy Core for the reads that are made with it, imported by the first of them: `from store import core as sa`.

It takes a tenth of the time of a start, which makes none of these reads. So modules name it only inside functions,
where `Store.read` has imported it already, in a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import BigInteger as BigInteger
    from sqlalchemy import Integer as Integer
    from sqlalchemy import String as String
    from sqlalchemy import and_ as and_
    from sqlalchemy import bindparam as bindparam
    from sqlalchemy import case as case
    from sqlalchemy import cast as cast
    from sqlalchemy import false as false
    from sqlalchemy import func as func
    from sqlalchemy import literal as literal
    from sqlalchemy import literal_column as literal_column
    from sqlalchemy import or_ as or_
    from sqlalchemy import select as select
    from sqlalchemy import text as text
    from sqlalchemy import tuple_ as tuple_
    from sqlalchemy import union_all as union_all
else:

    def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever SQLAlchemy calls so
        import sqlalchemy

        found = globals()[name] = getattr(sqlalchemy, name)
        return found
