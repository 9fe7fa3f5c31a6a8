"""The paper's evaluation again, with the library's public names only; ours beside the published."""
