"""The configured services that one attempt may reach."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from runner.failures import FailureCode, PackError
from runner.packs.needs import ServiceAddress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.packs.pack import Pack


class AttemptServices(Collection[str]):
    """Addresses that are open to one attempt: those its pack declares, and those it has asked for.

    Everything else that the operator configured stays closed: a pack that fetches any address from its input would
    otherwise reach private services for anyone who starts a run.

    Args:
        pack: The attempt's pack; None for functions that a test calls without one.
        addresses: All configured addresses, by name.
    """

    def __init__(self, pack: Pack | None, addresses: Mapping[str, str]) -> None:
        services = () if pack is None else pack.services
        self._declared = {need.name: need for need in services if isinstance(need, ServiceAddress)}
        self._addresses = addresses
        self._open = {addresses[name] for name in self._declared if name in addresses}

    def url(self, name: str) -> str | None:
        """Return a service's address, which is open from then on; None if it is neither set nor declared.

        Raises:
            PackError: `not_found` if the pack declares the service and its address is not set.
        """
        address = self._addresses.get(name)
        if address is not None:
            self._open.add(address)
        elif name in self._declared:
            missing = self._declared[name].not_set()
            raise PackError(FailureCode.NOT_FOUND, missing.message, hint=missing.hint)
        return address

    def __contains__(self, address: object) -> bool:
        return address in self._open

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)
