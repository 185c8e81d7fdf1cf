import type { InstallOptions } from '../packages.ts';
import { type Input, type Process, type Program, readOptions } from '../process.ts';
import type { Content } from '../storage.ts';
import { createByteReader } from '../sync.ts';
import { EXCEPTION, exception } from './settings.ts';

const FAILED = 1;
const valued = [
  '--user',
  '-i',
  '-S',
  '--install-location',
  '--install-reason',
  '--pkg',
  '-p',
  '--abi',
  '--originating-uri',
  '--referrer',
];
/** `--show-versioncode` came with Android 8. */
const SHOWS_VERSION_SDK = 26;

const installOptions = (options: ReadonlyMap<string, string>): InstallOptions => ({
  mayReplace: !options.has('-R'),
  mayDowngrade: options.has('-d'),
  mayTestOnly: options.has('-t'),
});

/** Takes so many bytes of a package from the input. */
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

/** A package that lies on the tablet, or one that comes by the input. */
async function contentOf(process: Process, options: ReadonlyMap<string, string>, path: string | undefined) {
  const size = sizeOf(options);
  if (path === undefined || path === '-') {
    return size === undefined
      ? 'Error: must either specify a package size or an APK file'
      : receive(process, process.stdin, size);
  }
  const entry = process.device.storage.find(path);
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

const install: Program = async (process) => {
  const { options, rest } = readOptions(process.words, valued);
  const content = await contentOf(process, options, rest[0]);
  if (typeof content === 'string') return say(process, content);
  return say(process, process.device.packages.install(content, installOptions(options)));
};

const createSession: Program = async (process) => {
  const { options } = readOptions(process.words, valued);
  const id = process.device.packages.sessions.create(installOptions(options));
  return say(
    process,
    id === undefined ? 'Error: Too many active sessions' : `Success: created install session [${id}]`,
  );
};

const writeSession: Program = async (process) => {
  const { options, rest } = readOptions(process.words, valued);
  const [session = '', , path] = rest;
  const { sessions } = process.device.packages;
  if (!sessions.has(Number(session))) return say(process, `Error: no session ${session}`);
  const content = await contentOf(process, options, path);
  if (typeof content === 'string') return say(process, content);
  sessions.write(Number(session), content);
  return say(process, `Success: streamed ${content.size} bytes`);
};

const commitSession: Program = async (process) => {
  const [session = ''] = readOptions(process.words, valued).rest;
  const { sessions } = process.device.packages;
  if (!sessions.has(Number(session))) return say(process, `Error: no session ${session}`);
  return say(process, sessions.commit(Number(session)));
};

const abandonSession: Program = async (process) => {
  const done = process.device.packages.sessions.abandon(Number(process.words[0]));
  return say(process, done ? 'Success' : `Error: no session ${process.words[0] ?? ''}`);
};

const uninstall: Program = async (process) => {
  const [name = ''] = readOptions(process.words, valued).rest;
  return say(process, process.device.packages.uninstall(name));
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
  const { options, rest } = readOptions(words, ['--user', '--uid']);
  const showsVersion = options.has('--show-versioncode');
  if (showsVersion && device.android().sdk < SHOWS_VERSION_SDK) {
    await err('Error: Unknown option: --show-versioncode\n');
    return FAILED;
  }
  const [filter = ''] = rest;
  const rows = device.packages
    .list()
    .filter(({ manifest, isHidden }) => manifest.name.includes(filter) && (!isHidden || options.has('-u')))
    .filter(({ state }) => (!options.has('-d') || state !== 'enabled') && (!options.has('-e') || state === 'enabled'))
    .filter(({ isSystem }) => (!options.has('-s') || isSystem) && (!options.has('-3') || !isSystem));
  for (const { manifest, path, uid } of rows) {
    const file = options.has('-f') ? `${path}=` : '';
    const version = showsVersion ? ` versionCode:${manifest.versionCode}` : '';
    await out(`package:${file}${manifest.name}${version}${options.has('-U') ? ` uid:${uid}` : ''}\n`);
  }
  return 0;
};

const path: Program = async ({ words, device, out }) => {
  const [name = ''] = readOptions(words, ['--user']).rest;
  const found = device.packages.get(name);
  if (!found) return FAILED;
  await out(`package:${found.path}\n`);
  return 0;
};

function setState(verb: string, state: 'enabled' | 'disabled-user'): Program {
  return async (process) => {
    const { device, out } = process;
    const [name = ''] = readOptions(process.words, ['--user']).rest;
    const found = device.packages.get(name);
    if (!found) return exception(process, verb, `java.lang.IllegalArgumentException: Unknown package: ${name}`);
    const isOwner = device.owner?.startsWith(`${name}/`) ?? false;
    if (state !== 'enabled' && (isOwner || name === 'android' || name === 'com.android.shell')) {
      return exception(process, verb, `java.lang.SecurityException: Cannot disable a protected package: ${name}`);
    }
    found.state = state;
    await out(`Package ${name} new state: ${state}\n`);
    return 0;
  };
}

/** Real tablets let a device owner hide packages and not the shell. */
const refuseHiding =
  (verb: string): Program =>
  (process) =>
    exception(
      process,
      verb,
      'java.lang.SecurityException: Neither user 2000 nor current process has android.permission.MANAGE_USERS.',
    );

const clear: Program = async ({ words, device, out }) => {
  const [name = ''] = readOptions(words, ['--user']).rest;
  const found = device.packages.get(name);
  await out(found ? 'Success\n' : 'Failed\n');
  return found ? 0 : FAILED;
};

const verbs: Readonly<Record<string, Program>> = {
  install,
  'install-create': createSession,
  'install-write': writeSession,
  'install-commit': commitSession,
  'install-abandon': abandonSession,
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
  const [verb = '', ...words] = process.words;
  const program = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (program) return program({ ...process, words });
  await process.err(`Unknown command: ${verb}\n`);
  return EXCEPTION;
};

export const packagePrograms: Readonly<Record<string, Program>> = { pm };
