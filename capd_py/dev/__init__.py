"""One command to a management cluster and back: `capd up`, `capd quickstart`, `capd down`."""
