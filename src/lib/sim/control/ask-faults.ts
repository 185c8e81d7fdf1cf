import { asGwError, GwError } from '../../error/index.ts';
import { faultNames, faultTable, isFaultName } from '../faults.ts';
import type { SimFault } from '../sim.result.ts';
import { type ControlView, controlSim, defaultPointerFile, unknownFault } from './control.ts';

export interface AskFaultsOptions {
  readonly name?: string | undefined;
  readonly state?: string | undefined;
  readonly list?: boolean | undefined;
  readonly dir?: string | undefined;
  readonly pointerFile?: string;
}

const DEFAULT_DIR = './gw-sim';

/** Switches a fault of a running simulator or lists them. Throws USAGE, SIM_NOT_RUNNING, PORT_IN_USE. */
export async function askFaults(options: AskFaultsOptions): Promise<SimFault> {
  const set = readOrder(options);
  const { dir, pointerFile = defaultPointerFile() } = options;
  try {
    const view = await controlSim(dir ?? DEFAULT_DIR, {
      ...(set && { set }),
      ...(dir === undefined && { pointerFile }),
    });
    const faults = view.faults.map(({ name, on, does }) => ({ name, on, does }));
    const note = set?.on === true ? withoutEffect(set.name, view) : undefined;
    return { dir: view.dir, changed: set ?? null, ...(note !== undefined && { note }), faults };
  } catch (error) {
    // The list is worth reading without a simulator too; then nothing is claimed about what is on.
    const canListAnyway = set === undefined && dir === undefined && asGwError(error).code === 'SIM_NOT_RUNNING';
    if (!canListAnyway) throw error;
    return {
      dir: null,
      changed: null,
      faults: faultNames.map((name) => ({ name, on: null, does: faultTable[name].does })),
    };
  }
}

/** Why a fault that is switched on does nothing: what it touches is not there. */
function withoutEffect(name: string, { robots, parts }: Pick<ControlView, 'robots' | 'parts'>): string | undefined {
  const kind = isFaultName(name) ? faultTable[name].kind : undefined;
  if (kind === 'fleet' && robots === 0) {
    return 'It does nothing: this simulator has no neighbours; `gw sim --robots N` gives it some.';
  }
  if ((kind === 'enrolment' || kind === 'cloud' || kind === 'tablet') && !parts.includes(kind)) {
    return `It does nothing: this simulator has no ${kind}; \`gw sim --with ${kind}\` gives it one.`;
  }
  return undefined;
}

function readOrder({ name, state, list }: AskFaultsOptions): { name: string; on: boolean } | undefined {
  if (name === undefined) return undefined;
  if (list) throw new GwError('USAGE', 'Either name a fault or ask for the list.');
  if (!isFaultName(name)) throw unknownFault(name);
  if (state !== 'on' && state !== 'off') {
    throw new GwError('USAGE', `Say whether '${name}' shall be on or off.`, {
      remedy: `For example: gw sim fault ${name} on`,
    });
  }
  return { name, on: state === 'on' };
}
