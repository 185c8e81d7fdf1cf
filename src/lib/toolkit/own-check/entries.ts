import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { hostKey, httpUrlKey, portKey } from '../../site/index.ts';
import { shorten } from '../../text/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { parseNameServer, recordTypes } from './dns.ts';

/** What the checks of own lists work with. */
interface OwnRun extends CheckContext {
  toolkit(): Promise<Toolkit>;
  onGateway(): Promise<Toolkit>;
}

/** A check for technicians' own lists; its result has `detail`, a sentence that says from where it looked. */
export interface OwnCheck<O> {
  readonly summary: string;
  readonly with: z.ZodType<O>;
  /** Its own timeout; the step then waits a little longer, so that the check itself says what it waited for. */
  readonly timeoutS: (options: O) => number;
  readonly run: (options: O, run: OwnRun) => Promise<object>;
}

const timeoutS = (seconds: number, most = 60) =>
  z.number().min(0.1).max(most).default(seconds).describe('Timeout of one attempt in seconds.');
const path = z
  .string()
  .max(4096)
  .refine((text) => isAbsolute(text) && !text.includes('\0'), 'an absolute path');
const text = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, 'text without a null character');
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'the name of an HTTP header');
/** Would change how the request is read, or whom it is sent to. */
const OWN_HEADERS = ['connection', 'content-length', 'host', 'transfer-encoding', 'upgrade'];

const check = <O>(of: OwnCheck<O>) => of;

/**
 * The checks of own lists. `programs`: what `command` may run, by the site file; undefined where a list is only shown.
 */
export function ownChecks(programs: readonly string[] | undefined) {
  const isAllowed = (program: string) => programs === undefined || programs.includes(program);
  return {
    http: check({
      summary: 'One HTTP request: status, headers, body (up to 1 MiB) and certificate. Follows no redirect.',
      with: z.strictObject({
        url: httpUrlKey.describe('http:// or https:// address.'),
        method: z.enum(['GET', 'HEAD']).default('GET').describe('GET or HEAD.'),
        headers: z
          .record(
            headerName.refine(
              (name) => !OWN_HEADERS.includes(name.toLowerCase()),
              'a header that gw does not set itself',
            ),
            z
              .string()
              .max(1000)
              .regex(/^[\t\x20-\x7e]*$/, 'printable ASCII'),
          )
          .default({})
          .describe('Headers of the request.'),
        verifyTls: z
          .boolean()
          .default(true)
          .describe('false accepts any certificate; the result then says that it was not verified.'),
        caFile: path.optional().describe('CA certificates (PEM) instead of those of Node and the operating system.'),
        timeoutS: timeoutS(10),
      }),
      timeoutS: (of) => of.timeoutS,
      run: async (of, run) => (await import('./http.ts')).checkHttp(await run.toolkit(), of, run),
    }),
    tcp: check({
      summary: 'A TCP port accepts connections. Sends nothing.',
      with: z.strictObject({
        host: hostKey.describe('Host name or address (IPv6 without brackets).'),
        port: portKey,
        timeoutS: timeoutS(5),
      }),
      timeoutS: (of) => of.timeoutS,
      run: async (of, run) => (await import('./tcp.ts')).checkTcp(await run.toolkit(), of, run),
    }),
    dns: check({
      summary: 'The records of a name, asked of name servers and not of the hosts file. On the gateway only.',
      with: z.strictObject({
        name: z
          .string()
          .regex(/^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/, 'a domain name')
          .describe('Domain name.'),
        type: z
          .enum(recordTypes)
          .default('A')
          .describe(`Type of the records: ${recordTypes.join(', ')}.`),
        server: z
          .string()
          .refine(
            (name) => parseNameServer(name) !== undefined,
            'an address with an optional port, such as 192.0.2.1:53',
          )
          .optional()
          .describe('Address of the name server, with a port where it is not 53; default: those of this machine.'),
        timeoutS: timeoutS(5),
      }),
      timeoutS: (of) => of.timeoutS,
      async run(of, run) {
        const toolkit = await run.onGateway();
        return (await import('./dns.ts')).checkDns(toolkit, of, run);
      },
    }),
    file: check({
      summary: 'A file or folder: type, mode, owner, size, content (up to 1 MiB), SHA-256. On the gateway only.',
      with: z.strictObject({
        path: path.describe('Absolute path.'),
        content: z.boolean().default(false).describe('Read its text.'),
        sha256: z.boolean().default(false).describe('Read the whole file for its SHA-256.'),
        timeoutS: timeoutS(10),
      }),
      timeoutS: (of) => of.timeoutS,
      async run(of, run) {
        const toolkit = await run.onGateway();
        return (await import('./file.ts')).checkFile(toolkit, of, run);
      },
    }),
    process: check({
      summary: 'Running processes by name. On the gateway only.',
      with: z.strictObject({
        name: text.min(1).max(255).describe('Name of its program file, without folders, or what it calls itself.'),
        argument: text.min(1).optional().describe('One of its arguments, in full.'),
      }),
      timeoutS: () => 10,
      async run(of, run) {
        await run.onGateway();
        return (await import('./process.ts')).checkProcess(of, run);
      },
    }),
    command: check({
      summary:
        'Runs a program that `checklists.programs` of the site file names: exit status and output (up to 64 KiB each). No shell. On the gateway only.',
      with: z.strictObject({
        argv: z
          .tuple(
            [
              path.refine(isAllowed, {
                error:
                  programs === undefined || programs.length === 0
                    ? 'a program of checklists.programs of the site file, which names none'
                    : `a program of checklists.programs of the site file: ${programs.join(', ')}`,
              }),
            ],
            text,
          )
          .refine((argv) => argv.length <= 100, 'at most 100 parts')
          .describe('List of the program, with an absolute path, and its arguments.'),
        timeoutS: timeoutS(10, 600),
      }),
      timeoutS: (of) => of.timeoutS,
      async run(of, run) {
        const toolkit = await run.onGateway();
        return (await import('./command.ts')).checkCommand(toolkit, of, run);
      },
    }),
  };
}

const MAX_DETAIL_CHARS = 300;

/** Of every own check: what it found and from where. */
export function detailOf(data: object): string {
  return 'detail' in data && typeof data.detail === 'string' ? shorten(data.detail, MAX_DETAIL_CHARS) : '';
}
