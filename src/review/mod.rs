//! What has the person not looked at yet? Pure: no I/O, no editor.
