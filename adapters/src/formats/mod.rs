//! Report formats that several tools share.
