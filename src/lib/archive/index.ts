/**
 * Archives of gw as tar.gz: packed file by file, and read entry by entry within bounds, without extracting to disk. What an
 * archive may hold is for its reader to say.
 */
export { packTarGz } from './pack.ts';
export { type ByteSource, type TarEntry, unpack } from './unpack.ts';
