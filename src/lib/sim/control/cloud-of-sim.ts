import { askCloud, simCloudRelease } from './cloud-commands.ts';
import type { SimCloudJob } from './control.result.ts';
import { controlSim } from './request.ts';
import { simTunnelBrowse } from './tunnel-commands.ts';

/** The cloud of a running simulator, as a program plays its side. All throw SIM_NOT_RUNNING, USAGE. */
export function cloudOfSim(dir: string) {
  const target = { dir };
  return {
    async cut(on: boolean): Promise<void> {
      await controlSim(dir, { set: { name: 'cloud-cut', on } });
    },
    stop: (reason: string, by: string) => askCloud(target, { action: 'stop', reason, by }),
    async release(file: string): Promise<SimCloudJob> {
      const signal = new AbortController().signal;
      return (await simCloudRelease(target, { file, allowDowngrade: false, signal })).job;
    },
    async openTunnel(service: string, minutes: number): Promise<{ readonly tunnelId: string }> {
      const lifetimeMs = minutes * 60_000;
      return (await askCloud(target, { action: 'tunnel-open', services: [service], lifetimeMs })).tunnel;
    },
    async browse(tunnelId: string, paths: readonly string[]) {
      const { signal } = new AbortController();
      const browsed = await simTunnelBrowse(target, { tunnelId, paths, lifetimeMs: 60_000, timeoutMs: 10_000, signal });
      return browsed.pages.map(({ path, status, problem }) => ({ path, status: problem === null ? status : null }));
    },
    async closeTunnel(tunnelId: string): Promise<void> {
      await askCloud(target, { action: 'tunnel-close', tunnelId });
    },
    async received(topic: string): Promise<readonly (string | null)[]> {
      const { messages } = await askCloud(target, { action: 'received', topic, last: 1_000 });
      return messages.map(({ text }) => text);
    },
  };
}
