import type { Props } from '../ui.ts';

/** What the signs of the map mean; it opens over the map. */
export function Legend({ t }: Pick<Props, 't'>) {
  const { ui } = t;
  const signs = [
    ['station', ui.legendStation],
    ['small', ui.legendDot],
    ['chosen', ui.legendChosen],
    ['goal', ui.legendGoal],
    ['dock', ui.legendDock],
    ['robot', ui.legendRobot],
    ['neighbour', ui.legendOther],
    ['way', ui.legendWay],
  ] as const;
  return (
    <details class="legend">
      <summary>{ui.legend}</summary>
      <ul>
        {signs.map(([kind, text]) => (
          <li key={kind}>
            <svg viewBox="-20 -20 40 40" width="32" height="32" aria-hidden="true">
              <Sign kind={kind} />
            </svg>
            {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Sign({ kind }: { readonly kind: string }) {
  switch (kind) {
    case 'robot':
      return (
        <g class="robot">
          <g class="arrow">
            <path d="M18 0L-13 13L-6 0L-13 -13Z" />
          </g>
        </g>
      );
    case 'neighbour':
      return (
        <g class="neighbour">
          <circle r="9" />
        </g>
      );
    case 'way':
      return <path class="way" d="M-18 0H18" />;
    default:
      return (
        <g class={`pin ${kind}`} transform="translate(0 18)" data-small={kind === 'small' ? '' : undefined}>
          <circle class="spot" cy={kind === 'small' ? -18 : 0} r="6" />
          <path d="M0 0L-11 -20A14 14 0 1 1 11 -20Z" />
          {kind === 'goal' && <circle class="flag" cy="-26" r="5" />}
        </g>
      );
  }
}
