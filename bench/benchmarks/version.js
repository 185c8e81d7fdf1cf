import { gw, median, timeInTurn } from '../measure.js';

export default {
  title: 'gw --version against bare node -e 0 (whole processes, in turn)',
  async run() {
    const [ours, bare] = timeInTurn(
      [
        [gw, '--version'],
        ['-e', '0'],
      ],
      25,
    );
    const ratio = median(ours) / median(bare);
    return {
      rows: [
        { name: 'gw --version', median: median(ours), unit: 'ms', samples: ours },
        { name: 'node -e 0', median: median(bare), unit: 'ms', samples: bare },
      ],
      figures: [
        {
          name: 'gw --version / node -e 0',
          value: `${ratio.toFixed(2)} ×`,
          target: 'at most 2.0 ×',
          holds: ratio <= 2,
        },
      ],
    };
  },
};
