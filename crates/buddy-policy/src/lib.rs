//! Pure judgement: what would this do, and may it?
