import type { PoseRad } from './drive.ts';

/** Duration of the search. Project decision. */
const SEARCH_S = 2;

export interface GlobalPositioningOptions {
  readonly canSucceed: () => boolean;
  /** The true pose of the robot. */
  readonly pose: () => PoseRad;
  readonly onFound: () => void;
  readonly onChange: () => void;
}

export interface PositioningState {
  readonly state: 'running' | 'succeeded' | 'failed';
  readonly pose?: PoseRad;
  readonly message: string;
}

/** Search for the position on the whole map (vendor's services, HINWEIS). The floor has no barcodes. */
export function createGlobalPositioning({ canSucceed, pose, onFound, onChange }: GlobalPositioningOptions) {
  let state: PositioningState | undefined;
  let leftS = 0;
  let usesMap = true;

  return {
    state: (): PositioningState | undefined => state,
    start(withMap: boolean): void {
      usesMap = withMap;
      leftS = SEARCH_S;
      state = { state: 'running', message: '' };
      onChange();
    },
    /** Discards the search and its result, after a new pose or map. */
    discard(): void {
      const wasRunning = state?.state === 'running';
      state = wasRunning ? { state: 'failed', message: 'interrupted' } : undefined;
      if (wasRunning) onChange();
    },
    step(dt: number): void {
      if (state?.state !== 'running') return;
      leftS -= dt;
      if (leftS > 0) return;
      if (usesMap && canSucceed()) {
        state = { state: 'succeeded', pose: pose(), message: 'matched with the map' };
        onFound();
      } else {
        state = { state: 'failed', message: usesMap ? 'no match with the map' : 'no barcode in sight' };
      }
      onChange();
    },
  };
}
