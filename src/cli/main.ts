import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Command, Config, type Interfaces, run, settings } from '@oclif/core';
import { asGwError, type GwError } from '../lib/error/index.ts';
import { applyColours, decideColours, splitColourFlag } from './colour.ts';
import { fromFramework } from './command.ts';
import { finishOutput, watchOutput } from './lost-output.ts';
import { renderError } from './output.ts';

/**
 * Entry of the command line. `argv` is without node and script; `root` is the folder of the package, in which
 * the framework finds its commands.
 */
export async function main(argv: string[], root: string): Promise<void> {
  settings.performanceEnabled = false;
  watchOutput();
  const { stdout, stderr } = process;
  applyColours(decideColours(argv, process.env, { stdout: stdout.isTTY === true, stderr: stderr.isTTY === true }));
  const { rest } = splitColourFlag(argv);
  // Asked by a shell while a person types: without the framework.
  if (argv[0] === '__complete') {
    const { printCompletion } = await import('./completion/print.ts');
    await printCompletion(argv.slice(1), root).catch(() => {});
    return;
  }
  // The schema library compiles a checker before it checks for the first time, which pays where that goes on for days, or
  // for each of a hundred thousand records.
  const isLong = rest[0] === 'serve' || (rest[0] === 'tunnel' && rest[1] === 'audit');
  if (!isLong) Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  try {
    if (rest[0] === 'motion') await refuseMisplacedStop(rest);
    await run(rest, frameworkOptions(root));
  } catch (error) {
    // Errors outside a command: an unknown command, or a request for help.
    if ((error as { code?: string }).code === 'EEXIT') {
      process.exitCode = (error as { oclif?: { exit?: number } }).oclif?.exit ?? 0;
      return;
    }
    const known = fromFramework(error);
    const gwError = known === undefined ? asGwError(error) : await explain(known, rest, root);
    process.exitCode = gwError.exitCode;
    if (argv.includes('--json')) {
      const envelope = { schema: 'gw/error/1', ok: false, data: null, warnings: [], error: gwError.toJSON() };
      process.stdout.write(`${JSON.stringify(envelope, null, 2)}\n`);
    } else {
      process.stderr.write(`${renderError(gwError)}\n`);
    }
  } finally {
    // Not the flush of the framework, which hangs once the reader is gone; a failed write calls back as well. Only with
    // pending data: on a terminal after Ctrl-S even an empty write blocks.
    if (process.stdout.writableLength > 0) {
      await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
    }
    // The daemon goes on without a reader, and says in its health what became of its lines.
    if (rest[0] !== 'serve') await finishOutput();
    // After long operation under load the regular end of Node was observed to spin for ever
    // (Environment::CleanupHandles). All services of the daemon are stopped and its lines written at this point.
    if (rest[0] === 'serve') process.exit();
  }
}

/** What the framework calls 'not found': which words name no command, and what is similar. */
async function explain(error: GwError, args: readonly string[], root: string): Promise<GwError> {
  const { knownCommands, unknownCommandError } = await import('./did-you-mean.ts');
  const { isStopAttempt, mistypedStop } = await import('./stop-attempt.ts');
  const known = knownCommands(await Config.load(frameworkOptions(root)));
  const unknown = unknownCommandError(args, known);
  return isStopAttempt(args, known) ? mistypedStop(unknown ?? error) : (unknown ?? error);
}

async function refuseMisplacedStop(args: readonly string[]): Promise<void> {
  const { misplacedStop } = await import('./stop-attempt.ts');
  const error = misplacedStop(args);
  if (error !== undefined) throw error;
}

/** A command as a manifest describes it. */
type Described = Command.Cached & { readonly relativePath: readonly string[] };

/**
 * What the command framework is started with: gw as its manifest describes it. Left to itself the framework looks for all of
 * this at every start, by patterns and in many folders, which takes longer than most commands do. `root` is the folder with
 * package.json.
 */
export function frameworkOptions(root: string): Interfaces.Options {
  const own = describedPlugin(root);
  return { root, pjson: own.pjson, plugins: new Map([[own.name, own]]) };
}

function describedPlugin(root: string): Interfaces.Plugin {
  const pjson = readJson<Interfaces.PJSON>(join(root, 'package.json'));
  const { commands } = readJson<{ commands: Record<string, Described> }>(join(root, 'oclif.manifest.json'));
  const { name, version } = pjson;
  const find = async (id: string): Promise<Command.Class> => {
    const path = commands[id]?.relativePath ?? [];
    const { default: command } = (await import(pathToFileURL(join(root, ...path)).href)) as { default: Command.Class };
    return Object.assign(command, { id, plugin });
  };
  const plugin: Interfaces.Plugin = {
    ...{ _base: '', alias: name, name, version, type: 'core', root, pjson, isRoot: true, valid: true },
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

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
