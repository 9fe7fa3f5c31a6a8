"""What the commands do, as functions: imported late, because they need heavy packages."""
