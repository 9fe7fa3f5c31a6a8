"""Fitted models as files, and what of one's own may be in them."""

from twinviews.model_files.container import ModelFileError as ModelFileError
from twinviews.model_files.stored_classes import refuse_to_store as refuse_to_store
from twinviews.model_files.stored_classes import register_stored_class as register_stored_class
