"""The errors a user can cause. Each message is one line: the thing, the value, the remedy."""


class DpvizError(ValueError):
    """Base of every error that bad input can cause; the command line exits with 2 on it."""


class DomainError(DpvizError):
    """A public rectangle, a query rectangle or a period is invalid."""


class DataError(DpvizError):
    """A data source cannot be read as records of the declared kind."""


class ShapesError(DataError):
    """A file holds shapes other than points."""


class ParameterError(DpvizError):
    """A method, a parameter or an epsilon is unknown or out of range."""


class BudgetError(DpvizError):
    """A request for more epsilon or delta than is left."""


class LedgerError(DpvizError):
    """The ledger cannot be read or written, so nothing may be spent."""


class ReleaseError(DpvizError):
    """A file is not a release that this version can read."""


class PrivacyError(DpvizError):
    """An operation for public data only was requested on sensitive data."""
