//! Whole files in and out for Lua: bytes as Lua strings, which JSON could not carry.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use mlua::{Lua, Table};

use crate::backend::{TransferError, Upload};
use crate::nvim::app;

/// Takes a list of `{path, bytes}`; gives a list of `{path, error}`, `error` nil where all is well.
pub fn upload(lua: &Lua, files: &Table) -> Result<Table, String> {
    let mut uploads = Vec::new();
    for file in files.sequence_values::<Table>() {
        let pair =
            file.and_then(|file| Ok((file.get::<mlua::LuaString>(1)?, file.get::<mlua::LuaString>(2)?)));
        let (path, bytes) = pair.map_err(|_| "upload_files() takes a list of {path, bytes}.".to_owned())?;
        uploads.push(Upload {
            path: path_of(&path),
            bytes: bytes.as_bytes().to_vec(),
        });
    }
    let done = app::agent()?.upload_files(uploads).ok_or_else(ended)?;
    let rows = done
        .into_iter()
        .map(|file| row(lua, &file.path, None, file.error.as_ref()));
    list(lua, rows)
}

/// Takes a list of paths; gives a list of `{path, content, error}`.
pub fn download(lua: &Lua, paths: &Table) -> Result<Table, String> {
    let paths: Result<Vec<PathBuf>, _> = paths
        .sequence_values::<mlua::LuaString>()
        .map(|path| path.map(|path| path_of(&path)))
        .collect();
    let paths = paths.map_err(|_| "download_files() takes a list of paths.".to_owned())?;
    let done = app::agent()?.download_files(paths).ok_or_else(ended)?;
    let rows = done.into_iter().map(|file| match &file.content {
        Ok(content) => row(lua, &file.path, Some(content), None),
        Err(error) => row(lua, &file.path, None, Some(error)),
    });
    list(lua, rows)
}

fn row(lua: &Lua, path: &Path, content: Option<&[u8]>, error: Option<&TransferError>) -> mlua::Result<Table> {
    let row = lua.create_table()?;
    row.set(
        "path",
        lua.create_string(path.to_owned().into_os_string().into_vec())?,
    )?;
    if let Some(content) = content {
        row.set("content", lua.create_string(content)?)?;
    }
    if let Some(error) = error {
        row.set("error", error.to_string())?;
    }
    Ok(row)
}

fn list(lua: &Lua, rows: impl Iterator<Item = mlua::Result<Table>>) -> Result<Table, String> {
    rows.collect::<mlua::Result<Vec<Table>>>()
        .and_then(|rows| lua.create_sequence_from(rows))
        .map_err(|error| error.to_string())
}

fn path_of(text: &mlua::LuaString) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&text.as_bytes()))
}

fn ended() -> String {
    "dcode has ended in this Neovim.".to_owned()
}
