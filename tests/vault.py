"""The private attributes of handles, as tests look at them: the one place that names them."""


def index_of(handle):
    return handle._index


def layers_of(handle):
    return handle._layers


def sequences_of(handle):
    return handle._sequences


def trips_of(handle):
    return handle._trips


def steps_of(handle):
    return handle._by_step


def counts_of(handle):
    return handle._counts


def sums_of(handle):
    return handle._sums
