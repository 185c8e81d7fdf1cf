import { stripVTControlCharacters } from 'node:util';
import { Command, Config, Errors, Flags, type Interfaces } from '@oclif/core';
import type { ZodType } from 'zod';
import { asGwError, type ErrorJson, exitCodes, GwError } from '../lib/error/index.ts';
import type { Ssh } from '../lib/net/index.ts';
import { RawList } from '../lib/text/index.ts';
import type { CheckContext, Toolkit } from '../lib/toolkit/index.ts';
import type { Deciding } from '../lib/toolkit/verdict.ts';
import { forStderr, forStdout } from './colour.ts';
import { printable, renderError, renderWarning } from './output.ts';
import { withOwnRemedy } from './own-remedy.ts';
import type { Losses } from './ssh-options.ts';
import { reflow, widthOf } from './wrap.ts';

/** A longer list is written with one element per line, which is easy to count, cut and search. */
const LONG_LIST = 200;
/** Size of one write; the engine builds a string of up to twice as many bytes quickly. */
const CHUNK_CHARS = 32 * 1024;

/**
 * Writes a value as JSON with a final line break, in chunks, so that a large result is never one string in memory. Equal
 * to `JSON.stringify(value, null, 2)`, except for lists of more than 200 elements and those of `RawList`: those have one
 * compact line per element.
 */
export function* jsonText(value: unknown): Generator<string> {
  let chunk = '';
  for (const piece of pieces(plain(value), '')) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  yield `${chunk}\n`;
}

function* pieces(value: unknown, indent: string): Generator<string> {
  if (value instanceof RawList) yield* listPieces(value.texts, indent);
  else if (Array.isArray(value)) yield* listPieces(elementsOf(value, indent), indent);
  else if (isObject(value)) yield* objectPieces(value, indent);
  else yield compact(value);
}

function* listPieces(elements: Iterable<string>, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let before = `[\n${inner}`;
  for (const element of elements) {
    yield before + element;
    before = `,\n${inner}`;
  }
  yield before.startsWith('[') ? '[]' : `\n${indent}]`;
}

function* elementsOf(list: readonly unknown[], indent: string): Generator<string> {
  for (const [index, element] of list.entries()) {
    if (list.length > LONG_LIST) yield compact(element);
    else yield [...pieces(plain(element, String(index)), `${indent}  `)].join('');
  }
}

function* objectPieces(object: object, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let before = `{\n${inner}`;
  for (const key of Object.keys(object)) {
    const value = plain((object as Readonly<Record<string, unknown>>)[key], key);
    // Values without a JSON form are omitted, as by JSON.stringify.
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    yield `${before}${JSON.stringify(key)}: `;
    yield* pieces(value, inner);
    before = `,\n${inner}`;
  }
  yield before.startsWith('{') ? '{}' : `\n${indent}}`;
}

function compact(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** The JSON form of a value with `toJSON`, such as a date or a GwError. */
function plain(value: unknown, key = ''): unknown {
  if (value instanceof RawList) return value;
  if (isObject(value) && 'toJSON' in value && typeof value.toJSON === 'function') return value.toJSON(key);
  return value instanceof Number || value instanceof String || value instanceof Boolean ? value.valueOf() : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The one shape of `--json` on stdout. */
export interface Envelope<T> {
  /** Names the shape of `data`: `gw/chassis-probe/1`, published in schemas/. */
  readonly schema: string;
  /** false when the command failed, or a check failed. */
  readonly ok: boolean;
  readonly data: T | null;
  readonly warnings: readonly string[];
  readonly error: ErrorJson | null;
}

/** The result of a command, and whether its checks passed. */
export interface Outcome<T> {
  readonly data: T;
  /** false: exit code 1. Absent: no checks, the command succeeded. */
  readonly ok?: boolean;
  /** Exit code instead of 1 when `ok` is false: 3 not reachable, 4 refused. */
  readonly exitCode?: number;
  /** For --json, where a result that is not `ok` needs a remedy of its own; the text has it in its first line. */
  readonly error?: GwError | undefined;
}

/** What the framework calls; it shows it to no other caller. */
interface Runnable<T extends Command> {
  _run(): Promise<ReturnType<T['run']>>;
}

/**
 * Base of every command: parses, calls one function of a module, renders its result. The result is printed on stdout as
 * text or, with --json, as one envelope; progress, warnings and errors go to stderr. Text and JSON end with the same
 * exit code.
 */
export abstract class GwCommand<T extends object> extends Command {
  static override enableJsonFlag = true;
  /** Stands here for the help and the completion: it holds for every command, and is taken out before one is looked up. */
  static override baseFlags = {
    'no-color': Flags.boolean({ summary: 'Print no colours; so does NO_COLOR=1.', helpGroup: 'GLOBAL' }),
    quiet: Flags.boolean({
      char: 'q',
      summary: 'Print no progress, and of the result only the first line when it is not fine.',
      helpGroup: 'GLOBAL',
    }),
  };
  /** `gw/<command-with-dashes>/<version>`. */
  static readonly schema: string;

  /** Takes a configuration as it is: the framework would make it once more, from every manifest. */
  static override async run<T extends Command>(
    this: new (
      argv: string[],
      config: Config,
    ) => T,
    argv?: string[],
    options?: Interfaces.LoadOptions,
  ): Promise<ReturnType<T['run']>> {
    // biome-ignore lint/complexity/noThisInStatic: the command that is run, which only `this` names
    if (!(options instanceof Config)) return await Command.run.call(this as never, argv, options);
    return await (new this(argv ?? [], options) as unknown as Runnable<T>)._run();
  }

  readonly #warnings: string[] = [];
  readonly #interrupt = new AbortController();

  /** Aborted by Ctrl-C and SIGTERM. */
  get signal(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** Runs the command. Throws GwError. */
  protected abstract execute(): Promise<Outcome<T>>;

  /** The result as text; its first line gives the verdict. */
  protected abstract render(data: T): string;

  /** Whether the text is a document, or for programs: it is written as it is, whatever the terminal. */
  protected isDocument(_data: T): boolean {
    return false;
  }

  /** Whether a result that is longer than the screen is shown through a pager: for commands that only show. */
  protected isPaged(): boolean {
    return false;
  }

  /** With --json or --quiet: no progress. */
  get isQuiet(): boolean {
    return this.jsonEnabled() || this.#hasFlag('--quiet', '-q');
  }

  /** Whether one of these names of a flag stands before `--`. */
  #hasFlag(...names: readonly string[]): boolean {
    const end = this.argv.indexOf('--');
    const words = end < 0 ? this.argv : this.argv.slice(0, end);
    return names.some((name) => words.includes(name));
  }

  async run(): Promise<void> {
    const signals = onFirstSignal(() => this.#interrupt.abort(new GwError('INTERRUPTED', 'Interrupted.')));
    try {
      const { data, ok = true, exitCode = exitCodes.checkFailed, error } = await this.execute();
      if (!ok) process.exitCode = exitCode;
      await this.print(data, ok, error?.toJSON() ?? null);
    } finally {
      signals.end();
    }
  }

  /** The outcome of a check by its verdict; accepting what is open leaves a warning, and the verdict as it is. */
  async judged<R extends object>(
    data: R,
    verdict: Deciding['verdict'],
    flags: { readonly 'accept-undecided': boolean | undefined },
  ): Promise<Outcome<R>> {
    const { isPassed } = await import('../lib/toolkit/verdict.ts');
    const acceptUndecided = flags['accept-undecided'] === true;
    const ok = isPassed(verdict, { acceptUndecided });
    if (ok && !isPassed(verdict, { acceptUndecided: false })) {
      this.warn('Not everything was checked or decided; accepted by --accept-undecided.');
    }
    return { data, ok };
  }

  /** Runs work, over SSH with --via. Its signal is also aborted when the SSH connection is lost. */
  async through<R>(
    via: string | undefined,
    work: (ssh: Ssh | undefined, signal: AbortSignal) => Promise<R>,
    losses?: Losses,
  ): Promise<R> {
    if (via === undefined) return await work(undefined, this.signal);
    const { throughVia } = await import('./ssh-options.ts');
    return await throughVia(via, { signal: this.signal, ...losses }, work);
  }

  /** The same with the site file loaded, before any password prompt. */
  async withToolkit<R>(
    { site, via }: { readonly site: string; readonly via?: string | undefined },
    work: (toolkit: Toolkit, signal: AbortSignal) => Promise<R>,
    losses?: Losses,
  ): Promise<R> {
    const { openToolkit } = await import('../lib/toolkit/index.ts');
    const toolkit = await openToolkit(site);
    return await this.through(
      via,
      (ssh, signal) => work(ssh === undefined ? toolkit : { ...toolkit, dialer: ssh.dialer, ssh }, signal),
      losses,
    );
  }

  /** Calls the function of a topic with the toolkit. `shown`: its progress on stderr, as a spinner or also as lines. */
  async call<O, R>(
    flags: { readonly site: string; readonly via?: string | undefined },
    work: (toolkit: Toolkit, options: O, context: CheckContext) => Promise<R>,
    options: O,
    { shown, ...losses }: Losses & { readonly shown?: 'spinner' | 'stages' } = {},
  ): Promise<R> {
    return await this.withToolkit(
      flags,
      async (toolkit, signal) => {
        if (shown === undefined) return await work(toolkit, options, { signal, onProgress: () => {} });
        const { withProgress, withStages } = await import('./progress.ts');
        const quiet = this.isQuiet;
        if (shown === 'stages') {
          return await withStages({ quiet }, (onProgress) => work(toolkit, options, { signal, onProgress }));
        }
        return await withProgress({ quiet }, ({ say }) => work(toolkit, options, { signal, onProgress: say }));
      },
      losses,
    );
  }

  /**
   * Runs this command on the remote host of --via with its gw, and returns its result. `secret`: read here, by these flags
   * among others, and its first line of input there.
   */
  async runThere<R extends object>(
    via: string,
    shape: ZodType<R>,
    secret?: { readonly text: string; readonly flags: readonly string[] },
  ): Promise<Outcome<R>> {
    const { remoteArguments, runRemoteGw } = await import('../lib/toolkit/remote-run.ts');
    const words = remoteArguments(this.id ?? '', this.argv, secret?.flags);
    const input = secret && `${secret.text}\n`;
    const { throughVia } = await import('./ssh-options.ts');
    const { data, ok, exitCode, warnings } = await throughVia(via, { signal: this.signal }, (ssh, signal) =>
      runRemoteGw(ssh, words, { ...this.farOptions(shape), signal, input }),
    );
    for (const text of warnings) this.warn(printable(text));
    return { data, ok, exitCode };
  }

  protected farOptions<R extends object>(shape: ZodType<R>) {
    const { schema } = this.ctor as unknown as { schema: string };
    return { schema, shape, version: this.config.version, onNote: (text: string) => this.note(printable(text)) };
  }

  protected async print(data: T | null, ok: boolean, error: ErrorJson | null): Promise<void> {
    if (this.jsonEnabled()) {
      // In chunks at the pace of the reader, so that a large result is not buffered.
      for (const chunk of jsonText(this.envelope(data, ok, error))) {
        if (!(await isWritten(chunk))) return;
      }
    } else if (data !== null) {
      const text = this.render(data);
      if (text === '') return;
      if (this.isDocument(data)) this.writeOut(text);
      else if (!this.isQuiet) await this.#show(text);
      else if (!ok) this.writeOut(reflow(text.split('\n', 1)[0] ?? '', widthOf(process.stdout)));
    }
  }

  /** On a terminal no line is broken within a word, and the verdict is in sight at the end of a long text as well. */
  async #show(text: string): Promise<void> {
    const shown = reflow(text.trimEnd(), widthOf(process.stdout));
    const lines = shown.split('\n');
    const isLong = process.stdout.isTTY === true && lines.length >= (process.stdout.rows || Number.POSITIVE_INFINITY);
    if (isLong && this.isPaged() && !this.#hasFlag('--no-pager')) {
      const { pagerOf, showThroughPager } = await import('./pager.ts');
      const pager = pagerOf(process.env);
      if (pager !== null && (await showThroughPager(`${forStdout(shown)}\n`, pager))) return;
    }
    const verdict = reflow(text.split('\n', 1)[0] ?? '', widthOf(process.stdout));
    this.writeOut(isLong ? `${shown}\n\n${verdict}` : shown);
  }

  /** One line of a long-running command's stdout under --json. */
  protected printEvent(event: object): void {
    this.writeOut(JSON.stringify(event));
  }

  note(text: string): void {
    this.writeErr(reflow(text, widthOf(process.stderr)));
  }

  /** Writes lines to stdout; a command whose reader may stall overrides it. */
  protected writeOut(text: string): void {
    process.stdout.write(forStdout(text.endsWith('\n') ? text : `${text}\n`));
  }

  /** Writes lines to stderr. */
  protected writeErr(text: string): void {
    process.stderr.write(forStderr(text.endsWith('\n') ? text : `${text}\n`));
  }

  override warn(input: string | Error): string | Error {
    const text = input instanceof Error ? input.message : input;
    this.#warnings.push(text);
    if (!this.jsonEnabled()) this.writeErr(reflow(renderWarning(text), widthOf(process.stderr)));
    return input;
  }

  protected override async catch(error: unknown): Promise<void> {
    const { withSiteFileSource } = await import('./site-file.ts');
    const thrown = (await this.#frameworkError(error)) ?? asGwError(error);
    const own = withOwnRemedy(thrown, (this.id ?? '').replaceAll(':', ' '));
    const gwError = this.explain(withSiteFileSource(own, this.argv));
    process.exitCode = gwError.exitCode;
    if (this.jsonEnabled()) await this.print(null, false, gwError.toJSON());
    else this.writeErr(renderError(gwError));
    if (process.env.GW_DEBUG) this.writeErr(`${gwError.stack}\n${String(gwError.cause ?? '')}`);
  }

  /** What an error means for this command: where the failure itself is dangerous, the danger comes first. */
  protected explain(error: GwError): GwError {
    return error;
  }

  async #frameworkError(error: unknown): Promise<GwError | undefined> {
    const known = fromFramework(error);
    if (known === undefined) return undefined;
    const { unknownFlagError } = await import('./did-you-mean.ts');
    return unknownFlagError(error, this.id ?? '') ?? known;
  }

  protected envelope(data: T | null, ok: boolean, error: ErrorJson | null): Envelope<T> {
    const { schema } = this.ctor as unknown as { schema: string };
    return { schema, ok, data, warnings: this.#warnings, error };
  }
}

/**
 * Calls `onSignal` for the first SIGINT and the first SIGTERM; a second one has its default effect. The listener is
 * removed only after the first signal was dispatched: the spinner has a listener that ends the process when it is the
 * only one.
 */
function onFirstSignal(onSignal: () => void): { end(): void } {
  const names = ['SIGINT', 'SIGTERM'] as const;
  const listeners = names.map((name) => {
    const listener = () => {
      onSignal();
      setImmediate(() => process.off(name, listener));
    };
    process.on(name, listener);
    return { name, listener };
  });
  return {
    end() {
      for (const { name, listener } of listeners) process.off(name, listener);
    },
  };
}

/** Resolves when stdout has accepted it; false when its reader is gone. */
function isWritten(chunk: string): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write(chunk, (error) => resolve(error == null)));
}

/** Errors of the framework are usage errors; its state (argv, paths) must not leave the process. */
export function fromFramework(error: unknown): GwError | undefined {
  if (error instanceof GwError || !(error instanceof Error)) return undefined;
  if (!(error instanceof Errors.CLIError)) return undefined;
  return new GwError('USAGE', usageText(error.message), { cause: error });
}

/** The words of the framework without its heading and its hint. */
function usageText(message: string): string {
  return stripVTControlCharacters(message)
    .replace(/\nSee more help with --help$/, '')
    .replace(/^The following errors? occurred:\n/, '')
    .replace(/Missing required flag (?=[a-z])/g, 'Missing required flag --')
    .replace(/\n +/g, '\n')
    .trim();
}

/** Whether argv contains `--format json`, which is equivalent to `--json`, even if it cannot be parsed. */
export function isJsonFormat(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.includes('--format=json') || words.some((word, at) => word === '--format' && words[at + 1] === 'json');
}
