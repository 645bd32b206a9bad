"""The ledger: the permanent record of what each data set has spent, in one SQLite file.

A spend is checked against the total and made durable in one exclusive transaction BEFORE any noise
is drawn, so that neither two processes together nor a crash at any point can give a release that
was not paid for; the price of a crashed build stays spent. Entries are only ever added. Sums are
exact: an amount counts as the decimal number that was typed.

A data set is identified by the name that its owner gives it; a hash of the file would be a fact
about records.
The owner must use one name for all files about the same people, and keep the file: A SECOND NAME
FOR THE SAME RECORDS, OR A COPY OF THE LEDGER ELSEWHERE, STARTS A NEW ACCOUNT.

Each entry carries a hash of itself and of the one before it, and the last hash seen stands in a
small file beside the ledger. So flipped bits, edited or missing entries, an older copy and another
file under the same name are noticed. The hash has no key: it protects from accidents and careless
hands, not from somebody who may write both files and sets out to deceive.
"""

from dpviz.private.ledger.book import Ledger, new_release
from dpviz.private.ledger.entries import Account, Spend
from dpviz.private.ledger.file import default_path
from dpviz.private.ledger.names import account_key

__all__ = ["Account", "Ledger", "Spend", "account_key", "default_path", "new_release"]
