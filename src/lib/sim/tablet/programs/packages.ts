import { createByteReader } from '../adb/sync.ts';
import type { InstallOptions } from '../packages/packages.ts';
import {
  type Input,
  type OptionTable,
  type Process,
  type Program,
  readOptions,
  type WordOptions,
} from '../shell/process.ts';
import type { Content } from '../storage.ts';
import { EXCEPTION, exception, refuseOption } from './settings.ts';

const FAILED = 1;
/**
 * Options of an installation. Those without a field in `InstallOptions` have no effect here: install location,
 * permissions, users, installer.
 */
const installTable: OptionTable = {
  '-r': 0,
  '-R': 0,
  '-d': 0,
  '-t': 0,
  '-g': 0,
  '-f': 0,
  '-i': 1,
  '-S': 1,
  '--user': 1,
  '--install-location': 1,
  '--install-reason': 1,
  '--originating-uri': 1,
  '--referrer': 1,
  '--dont-kill': 0,
  '--full': 0,
};
/** Android 8, the first with `--show-versioncode`. */
const SHOWS_VERSION_SDK = 26;

const installOptions = (options: ReadonlyMap<string, string>): InstallOptions => ({
  mayReplace: !options.has('-R'),
  mayDowngrade: options.has('-d'),
  mayTestOnly: options.has('-t'),
});

/** Receives a package of the given size from the input. */
async function receive({ device }: Process, stdin: Input, size: number): Promise<Content | string> {
  const sink = device.storage.openSink();
  const reader = createByteReader(stdin);
  for (let missing = size; missing > 0; ) {
    const bytes = await reader.some(missing);
    if (!bytes || !sink.add(bytes)) {
      sink.drop();
      return bytes
        ? 'Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to allocate space]'
        : 'Failure [INSTALL_FAILED_INVALID_APK: the package ended early]';
    }
    missing -= bytes.length;
  }
  return sink.finish();
}

function sizeOf(options: ReadonlyMap<string, string>): number | undefined {
  const text = options.get('-S') ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/** The content of a package file on the tablet, or from the input. */
async function contentOf(process: Process, options: ReadonlyMap<string, string>, path: string | undefined) {
  const size = sizeOf(options);
  if (path === undefined || path === '-') {
    return size === undefined
      ? 'Error: must either specify a package size or an APK file'
      : receive(process, process.stdin, size);
  }
  const entry = process.files.find(path);
  if (typeof entry === 'string' || entry.kind !== 'file') {
    return `Error: Unable to open file: ${path}\nConsider using a file under /data/local/tmp/`;
  }
  return entry.content;
}

async function say({ out, err }: Process, text: string): Promise<number> {
  if (text.startsWith('Success')) {
    await out(`${text}\n`);
    return 0;
  }
  await (text.startsWith('Error') ? err(`${text}\n`) : out(`${text}\n`));
  return FAILED;
}

/** A subcommand with its own options; other options are refused. */
function verb(
  name: string,
  table: OptionTable,
  run: (process: Process, read: WordOptions) => Promise<number>,
): Program {
  return async (process) => {
    const read = readOptions(process.words, table);
    return (await refuseOption(process, name, read)) ?? run(process, read);
  };
}

const install = verb('install', installTable, async (process, { options, rest }) => {
  const content = await contentOf(process, options, rest[0]);
  if (typeof content === 'string') return say(process, content);
  return say(process, process.device.packages.install(content, installOptions(options)));
});

/** `-k` keeps data; packages on this tablet have none. */
const uninstall = verb('uninstall', { '-k': 0, '--user': 1 }, async (process, { rest: [name = ''] }) =>
  say(process, process.device.packages.uninstall(name)),
);

const listTable: OptionTable = {
  '-f': 0,
  '-d': 0,
  '-e': 0,
  '-s': 0,
  '-3': 0,
  // Uninstalled packages with kept data: none exist here.
  '-u': 0,
  '-U': 0,
  '--show-versioncode': 0,
  '--uid': 1,
  '--user': 1,
};

const list: Program = async (process) => {
  const { device, out, err } = process;
  const [what, ...words] = process.words;
  if (what === 'users') {
    await out('Users:\n\tUserInfo{0:Owner:c13} running\n');
    return 0;
  }
  if (what !== 'packages') {
    await err(`Error: unknown list type '${what ?? ''}'\n`);
    return FAILED;
  }
  const read = readOptions(words, listTable);
  const refused = await refuseOption(process, 'list', read);
  if (refused !== undefined) return refused;
  const { options, rest } = read;
  const uid = options.get('--uid');
  const showsVersion = options.has('--show-versioncode');
  if (showsVersion && device.android().sdk < SHOWS_VERSION_SDK) {
    await err('Error: Unknown option: --show-versioncode\n');
    return FAILED;
  }
  const [filter = ''] = rest;
  const rows = device.packages
    .list()
    .filter((found) => found.manifest.name.includes(filter) && (uid === undefined || uid === String(found.uid)))
    .filter(({ state }) => (!options.has('-d') || state !== 'enabled') && (!options.has('-e') || state === 'enabled'))
    .filter(({ isSystem }) => (!options.has('-s') || isSystem) && (!options.has('-3') || !isSystem));
  for (const { manifest, path, uid } of rows) {
    const file = options.has('-f') ? `${path}=` : '';
    const version = showsVersion ? ` versionCode:${manifest.versionCode}` : '';
    await out(`package:${file}${manifest.name}${version}${options.has('-U') ? ` uid:${uid}` : ''}\n`);
  }
  return 0;
};

const path = verb('path', { '--user': 1 }, async ({ device, out }, { rest: [name = ''] }) => {
  const found = device.packages.get(name);
  if (!found) return FAILED;
  await out(`package:${found.path}\n`);
  return 0;
});

function setState(what: string, state: 'enabled' | 'disabled-user'): Program {
  return verb(what, { '--user': 1 }, async (process, { rest: [name = ''] }) => {
    const { device, out } = process;
    const found = device.packages.get(name);
    if (!found) return exception(process, what, `java.lang.IllegalArgumentException: Unknown package: ${name}`);
    const isOwner = device.owner?.startsWith(`${name}/`) ?? false;
    if (state !== 'enabled' && (isOwner || name === 'android' || name === 'com.android.shell')) {
      return exception(process, what, `java.lang.SecurityException: Cannot disable a protected package: ${name}`);
    }
    found.state = state;
    await out(`Package ${name} new state: ${state}\n`);
    return 0;
  });
}

/** Android allows hiding packages to a device owner, not to the shell. */
const refuseHiding =
  (what: string): Program =>
  (process) =>
    exception(
      process,
      what,
      'java.lang.SecurityException: Neither user 2000 nor current process has android.permission.MANAGE_USERS.',
    );

/** Packages have no data here; clearing the device owner fails. */
const clear = verb('clear', { '--user': 1 }, async ({ device, out }, { rest: [name = ''] }) => {
  const isCleared = device.packages.get(name) !== undefined && device.owner?.split('/')[0] !== name;
  await out(isCleared ? 'Success\n' : 'Failed\n');
  return isCleared ? 0 : FAILED;
});

const verbs: Readonly<Record<string, Program>> = {
  install,
  uninstall,
  list,
  path,
  enable: setState('enable', 'enabled'),
  'disable-user': setState('disable-user', 'disabled-user'),
  hide: refuseHiding('hide'),
  unhide: refuseHiding('unhide'),
  clear,
};

const pm: Program = async (process) => {
  const [what = '', ...words] = process.words;
  const program = Object.hasOwn(verbs, what) ? verbs[what] : undefined;
  if (program) return program({ ...process, words });
  await process.err(`Unknown command: ${what}\n`);
  return EXCEPTION;
};

export const packagePrograms: Readonly<Record<string, Program>> = { pm };
