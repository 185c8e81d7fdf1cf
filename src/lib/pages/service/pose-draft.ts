/** A pose that a person is about to set, as the text of its fields: half-written numbers stay as they were typed. */
export interface PoseFields {
  readonly xM: string;
  readonly yM: string;
  readonly yawDeg: string;
}

export interface PoseDraft extends PoseFields {
  /** What became of the order; a code of a refusal, or of an outcome other than success. */
  readonly order: 'none' | 'sending' | 'set' | { readonly code: string; readonly technical: string };
}

export const noPose: PoseDraft = { xM: '', yM: '', yawDeg: '', order: 'none' };

/** Metres on the map, and degrees, counter-clockwise, 0 along +x. */
export interface Pose {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** The parts that are numbers already. */
export function partsOf({ xM, yM, yawDeg }: PoseFields): { readonly [K in keyof Pose]: number | null } {
  return { xM: numberOf(xM), yM: numberOf(yM), yawDeg: numberOf(yawDeg) };
}

/** null while a field is empty or no number: a heading that no person chose is never sent. */
export function poseOf(fields: PoseFields): Pose | null {
  const { xM, yM, yawDeg } = partsOf(fields);
  return xM === null || yM === null || yawDeg === null ? null : { xM, yM, yawDeg };
}

function numberOf(text: string): number | null {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/** What the answer to the order says. Only the reported success is one. */
export function orderEnd(answer: { readonly ok: boolean; readonly body: unknown } | null): PoseDraft['order'] {
  if (answer === null) return { code: 'NO_ANSWER', technical: '' };
  const body = (answer.body ?? {}) as {
    readonly outcome?: { readonly state?: unknown; readonly reason?: unknown } | null;
    readonly error?: { readonly code?: unknown; readonly message?: unknown } | null;
  };
  if (answer.ok && body.outcome?.state === 'succeeded') return 'set';
  const [code, technical] = answer.ok
    ? [body.outcome?.state, body.outcome?.reason]
    : [body.error?.code, body.error?.message];
  return {
    code: typeof code === 'string' ? code : 'unknown',
    technical: typeof technical === 'string' ? technical : '',
  };
}
