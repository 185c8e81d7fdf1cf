import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command, Interfaces } from '@oclif/core';

/** A command as a manifest describes it. */
type Described = Command.Cached & { readonly relativePath: readonly string[] };

/**
 * What the command framework is started with: gw and its plugins, as their manifests describe them. Left to itself the
 * framework looks for all of this at every start, by patterns and in many folders, which takes longer than most
 * commands do. `root` is the folder with package.json.
 */
export function frameworkOptions(root: string): Interfaces.Options {
  const own = describedPlugin(root, 'root');
  const names = own.pjson.oclif.plugins ?? [];
  const others = names.map((name) => describedPlugin(folderOf(name, root), 'core'));
  return { root, pjson: own.pjson, plugins: new Map([own, ...others].map((plugin) => [plugin.name, plugin])) };
}

function describedPlugin(root: string, type: 'root' | 'core'): Interfaces.Plugin {
  const pjson = readJson<Interfaces.PJSON>(join(root, 'package.json'));
  const { commands } = readJson<{ commands: Record<string, Described> }>(join(root, 'oclif.manifest.json'));
  const { name, version } = pjson;
  const find = async (id: string): Promise<Command.Class> => {
    const path = commands[id]?.relativePath ?? [];
    const { default: command } = (await import(pathToFileURL(join(root, ...path)).href)) as { default: Command.Class };
    return Object.assign(command, { id, plugin });
  };
  const plugin: Interfaces.Plugin = {
    ...{ _base: '', alias: name, name, version, type: 'core', root, pjson, isRoot: type === 'root', valid: true },
    ...{ moduleType: pjson.type === 'module' ? 'module' : 'commonjs', hasManifest: true, hooks: {} },
    options: { root },
    commandIDs: Object.keys(commands),
    commandsDir: undefined,
    commands: Object.values(commands).map((command) => ({ ...command, load: () => find(command.id) })),
    topics: Object.entries(pjson.oclif.topics ?? {}).map(([topic, { description }]) => ({ name: topic, description })),
    findCommand: find,
    load: async () => {},
  };
  return plugin;
}

function folderOf(name: string, root: string): string {
  const found = findPackageJSON(name, join(root, 'package.json'));
  if (found === undefined) throw new Error(`the package ${name} is not installed`);
  return dirname(found);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
