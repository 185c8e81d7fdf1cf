import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { asGwError, type ErrorJson, errorTable, GwError } from '../../error/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import { isFaultName } from '../faults.ts';
import { readIfThere } from '../files.ts';
import type { CloudAction } from './cloud-actions.ts';
import { CONTROL_HOST, type ControlView, HANDLE_FILE, parseObject, readPointer } from './handle.ts';

/** Folder of `gw sim` without --dir. */
export const DEFAULT_DIR = './gw-sim';
const ANSWER_TIMEOUT_MS = 10_000;
/** The simulator reads and hashes a package. */
const CLOUD_TIMEOUT_MS = 60_000;

/** File that names the folder of the last started simulator of this user. */
export function defaultPointerFile(): string {
  return join(tmpdir(), `gw-sim-${userInfo().uid}.json`);
}

export interface ControlRequest {
  /** The change; without it the faults are listed. */
  readonly set?: { readonly name: string; readonly on: boolean };
  /** Names another folder to try when no simulator runs in `dir`. */
  readonly pointerFile?: string;
}

/** A request to the control server. */
interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: '/faults' | '/cloud';
  readonly body?: object;
  /** For a person. */
  readonly action: string;
  readonly timeoutMs: number;
}

/**
 * Sends a request to the simulator of a folder. Throws SIM_NOT_RUNNING, USAGE for an unknown fault, PORT_IN_USE when
 * the port cannot be bound again after the fault `cut`.
 */
export async function controlSim(dir: string, request: ControlRequest = {}): Promise<ControlView> {
  const { set, pointerFile } = request;
  if (set && !isFaultName(set.name)) throw unknownFault(set.name);
  return (await callSim(dir, pointerFile, faultsCall(set))) as unknown as ControlView;
}

/** Has the cloud of a running simulator do something. Throws SIM_NOT_RUNNING, USAGE, and the error of the action. */
export async function controlCloud(
  dir: string,
  pointerFile: string | undefined,
  action: CloudAction,
): Promise<{ readonly dir: string; readonly result: unknown }> {
  const reply = await callSim(dir, pointerFile, {
    method: 'POST',
    path: '/cloud',
    body: action,
    action: 'control the simulated cloud',
    timeoutMs: CLOUD_TIMEOUT_MS,
  });
  return { dir: String(reply.dir), result: reply.result };
}

/** Whether a simulator runs in this folder. */
export async function isRunning(dir: string): Promise<boolean> {
  try {
    await callFolder(resolve(dir), faultsCall(undefined));
    return true;
  } catch {
    return false;
  }
}

function faultsCall(set: ControlRequest['set']): Call {
  const common = { path: '/faults', timeoutMs: ANSWER_TIMEOUT_MS } as const;
  if (set === undefined) return { ...common, method: 'GET', action: 'list the faults' };
  return { ...common, method: 'POST', body: set, action: 'switch a fault' };
}

/** Calls the simulator of a folder, or of that in the pointer file if none runs there. */
async function callSim(dir: string, pointerFile: string | undefined, call: Call): Promise<Record<string, unknown>> {
  const other = pointerFile === undefined ? undefined : await readPointer(pointerFile);
  const folders = [resolve(dir), ...(other === undefined || other === resolve(dir) ? [] : [other])];
  let failure: GwError | undefined;
  for (const folder of folders) {
    try {
      return await callFolder(folder, call);
    } catch (error) {
      const gwError = asGwError(error);
      if (gwError.code !== 'SIM_NOT_RUNNING') throw gwError;
      failure ??= gwError;
    }
  }
  throw failure ?? new GwError('SIM_NOT_RUNNING', 'No running simulator found.');
}

export function unknownFault(name: string): GwError {
  return new GwError('USAGE', `Unknown fault '${name}'.`, {
    remedy: 'List the faults with `gw sim fault --list`.',
  });
}

async function callFolder(dir: string, call: Call): Promise<Record<string, unknown>> {
  const handlePath = join(dir, HANDLE_FILE);
  const text = await readIfThere(handlePath);
  if (text === undefined) {
    throw new GwError('SIM_NOT_RUNNING', `No simulated robot is running in ${dir}.`, {
      remedy: 'Start one with `gw sim`, or name its folder with --dir.',
    });
  }
  const handle = parseObject(text);
  const url = typeof handle?.url === 'string' ? handle.url : '';
  const target = URL.parse(url);
  if (!handle || typeof handle.token !== 'string' || target?.hostname !== CONTROL_HOST) {
    throw new GwError('SIM_NOT_RUNNING', `${handlePath} contains no valid address of a simulator.`);
  }
  const tried = { address: CONTROL_HOST, port: Number(target.port), action: call.action };
  let status: number;
  let answer: Record<string, unknown> | undefined;
  try {
    const reply = await fetch(new URL(call.path, target), {
      method: call.method,
      headers: { authorization: `Bearer ${handle.token}`, 'content-type': 'application/json' },
      ...(call.body && { body: JSON.stringify(call.body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(call.timeoutMs),
    });
    status = reply.status;
    answer = parseObject(await reply.text());
  } catch (error) {
    throw new GwError('SIM_NOT_RUNNING', `The simulated robot of ${dir} does not answer; it has probably ended.`, {
      tried,
      cause: error,
    });
  }
  if (status === 200 && answer) return answer;
  throw asRemoteError(answer?.error) ?? new GwError('SIM_NOT_RUNNING', `Another program answers in ${dir}.`, { tried });
}

function asRemoteError(error: unknown): GwError | undefined {
  const { code, message, tried, remedy } = (isRecord(error) ? error : {}) as Partial<ErrorJson>;
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code) || typeof message !== 'string') return undefined;
  return new GwError(code, message, { tried, remedy });
}
