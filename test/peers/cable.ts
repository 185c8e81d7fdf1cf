import { ip } from './peer.ts';

/** Two network namespaces with a cable between them; removed at the end. */
export interface Cable extends Disposable {
  readonly near: string;
  readonly far: string;
  readonly nearDevice: string;
  readonly farDevice: string;
  readonly nearAddress: string;
  readonly farAddress: string;
}

/** Addresses for documentation, used only inside the two namespaces. `prefix`: of their names. */
export function layCable(prefix: string): Cable {
  const cable = {
    near: `${prefix}-a-${process.pid}`,
    far: `${prefix}-b-${process.pid}`,
    nearDevice: 'gw0',
    farDevice: 'gw1',
    nearAddress: '192.0.2.1',
    farAddress: '192.0.2.2',
  };
  const { near, far, nearDevice, farDevice } = cable;
  ip('netns', 'add', near);
  ip('netns', 'add', far);
  ip('link', 'add', nearDevice, 'netns', near, 'type', 'veth', 'peer', 'name', farDevice, 'netns', far);
  for (const [side, device, address] of [
    [near, nearDevice, cable.nearAddress],
    [far, farDevice, cable.farAddress],
  ] as const) {
    ip('-n', side, 'addr', 'add', `${address}/24`, 'dev', device);
    ip('-n', side, 'link', 'set', 'lo', 'up');
    ip('-n', side, 'link', 'set', device, 'up');
  }
  return {
    ...cable,
    [Symbol.dispose]() {
      ip('netns', 'del', near);
      ip('netns', 'del', far);
    },
  };
}
