import { homedir } from 'node:os';
import type { Config } from '@oclif/core';

/** What only this process knows of the installation that it is. */
export function doctorOptions({ version, root }: Pick<Config, 'version' | 'root'>) {
  return {
    version,
    folder: root,
    node: { version: process.versions.node, path: process.execPath },
    home: homedir(),
    path: process.env.PATH ?? '',
  };
}
