//! Round trips, and files that are not what they should be.
