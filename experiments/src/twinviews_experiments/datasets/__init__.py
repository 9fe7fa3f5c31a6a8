"""Real tables to try methods on: where they come from and how they are made ready."""
