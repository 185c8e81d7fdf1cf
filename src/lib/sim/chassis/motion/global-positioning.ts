import type { PoseRad } from './drive.ts';

/** How long the search takes. Project decision. */
const TAKES_S = 2;

export interface GlobalPositioningOptions {
  readonly canSucceed: () => boolean;
  /** Where the robot truly is. */
  readonly pose: () => PoseRad;
  readonly onFound: () => void;
  readonly onChange: () => void;
}

export interface PositioningState {
  readonly state: 'running' | 'succeeded' | 'failed';
  readonly pose?: PoseRad;
  readonly message: string;
}

/** The search for its own place on the whole map (vendor's services, HINWEIS). There are no barcodes on the floor. */
export function createGlobalPositioning({ canSucceed, pose, onFound, onChange }: GlobalPositioningOptions) {
  let state: PositioningState | undefined;
  let leftS = 0;
  let usesMap = true;

  return {
    state: (): PositioningState | undefined => state,
    start(withMap: boolean): void {
      usesMap = withMap;
      leftS = TAKES_S;
      state = { state: 'running', message: '' };
      onChange();
    },
    /** The robot was put elsewhere: what was searched is of no use any more. */
    forget(): void {
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
