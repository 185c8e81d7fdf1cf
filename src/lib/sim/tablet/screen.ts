import { randomBytes } from 'node:crypto';

/** The activity in front. */
export interface FrontTask {
  /** `package/full.Class`. */
  readonly component: string;
  readonly action: string;
  readonly data: string | undefined;
  readonly task: number;
  /** Unique id of this record. */
  readonly record: string;
}

const LAUNCHER = 'com.android.launcher3/com.android.launcher3.Launcher';

/** The screen: activity in front, density, volumes. */
export function createScreen() {
  let lastTask = 1;
  const open = (component: string, action: string, data: string | undefined): FrontTask => ({
    component,
    action,
    data,
    task: lastTask++,
    record: randomBytes(4).toString('hex').slice(0, 7),
  });
  const home = () => open(LAUNCHER, 'android.intent.action.MAIN', undefined);
  let front = home();
  return {
    physicalDensity: 240,
    size: '1200x1920',
    density: undefined as number | undefined,
    /** By stream number: 3 is music. */
    volumes: new Map<number, number>([[3, 7]]),
    isLocked: false,
    front: (): FrontTask => front,
    start(component: string, action: string, data: string | undefined): FrontTask {
      front = open(component, action, data);
      return front;
    },
    goHome(): void {
      front = home();
    },
  };
}

export type Screen = ReturnType<typeof createScreen>;
