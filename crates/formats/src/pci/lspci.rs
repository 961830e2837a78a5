//! The text of `lspci`, in all its verbosities.
