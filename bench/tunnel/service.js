// The simulated tunnel service as a process of its own.
import { startTunnelService } from '../../src/lib/sim/cloud/tunnel/service.ts';
import { serveRequests } from '../worker.js';

const service = startTunnelService();

serveRequests({
  async open({ services }) {
    const { place, caPem, open } = await service;
    const { sourceToken, destinationToken } = await open({ services, lifetimeMs: 3_600_000 });
    return { ...place, caPem, sourceToken, destinationToken };
  },
});
