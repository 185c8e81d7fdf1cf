import { isolated, shorten } from '../../text/index.ts';
import { besidePose } from '../beside-pose.tsx';
import type { Props } from '../ui.ts';
import { type Choice, choiceText, readChoice } from '../viewer.ts';
import { nextPin } from './pin-order.ts';
import { placeAt } from './pose-geometry.ts';

/** A longer name ends with an ellipsis on the map; the list has all of it. Project decision. */
const MAX_LABEL_CHARS = 24;

interface PinsProps extends Props {
  /** They are looked at, and choose no target. */
  readonly isStill: boolean;
}

interface PinOf {
  readonly choice: Choice;
  readonly id: string;
  readonly label: string;
  readonly xM: number;
  readonly yM: number;
}

/**
 * Stations and the charging station, above them their labels: the script shows those that find space. A touch of a label
 * chooses its station; a touch of pins the one whose pin is nearest. With the keyboard they are one stop: arrow keys lead from pin to pin.
 */
export const Pins = besidePose(function Pins(props: PinsProps) {
  const { state, ui, viewer, isStill } = props;
  const pins = pinsOf(props);
  const choose = (id: string) => {
    const choice = readChoice(id, state.site);
    if (choice !== null) ui.act?.choose(choice);
  };
  const may = !viewer.readOnly && !isStill;
  const goal = goalOf(props);
  const tabStop = pins.some(({ id }) => id === ui.atPin) ? ui.atPin : pins[0]?.id;
  const kindOf = ({ choice, id }: PinOf) => {
    const isChosen = ui.choice !== null && choiceText(ui.choice) === id;
    return `${choice.kind}${isChosen ? ' chosen' : ''}${id === goal ? ' goal' : ''}`;
  };
  return (
    <>
      <g
        class="pins"
        {...(may && {
          onClick: ({ currentTarget, clientX, clientY, detail }: MouseEvent) => {
            const id = nearestPin(currentTarget as Element, clientX, clientY);
            // A screen reader clicks without a place; its own element says which.
            if (detail > 0 && id !== null) choose(id);
          },
        })}
      >
        {pins.map((pin) => (
          <g
            key={pin.id}
            class={`pin ${kindOf(pin)}`}
            data-pin={pin.id}
            transform={placeAt(pin)}
            {...(may && {
              role: 'button',
              'aria-label': pin.label,
              tabindex: pin.id === tabStop ? 0 : -1,
              onFocus: () => ui.act?.goToPin(pin.id),
              onClick: ({ detail }: MouseEvent) => {
                if (detail === 0) choose(pin.id);
              },
              onKeyDown: (event: KeyboardEvent) => {
                const next = nextPin(pins, pin.id, event.key);
                if (event.key === 'Enter' || event.key === ' ') choose(pin.id);
                else if (next === null) return;
                else focusPin(event.currentTarget as Element, next);
                event.preventDefault();
              },
            })}
          >
            <g class="upright">
              <circle class="touch" r="24" />
              <circle class="spot" r="6" />
              <path d="M0 0L-11 -20A14 14 0 1 1 11 -20Z" />
              {pin.id === goal && <circle class="flag" cy="-26" r="5" />}
            </g>
          </g>
        ))}
      </g>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus, and the pins have these names */}
      <g class="labels" aria-hidden="true">
        {pins.map((pin) => (
          <g
            key={pin.id}
            class={`label ${kindOf(pin)}`}
            data-label={pin.id}
            transform={placeAt(pin)}
            {...(may && { onClick: () => choose(pin.id) })}
          >
            <g class="upright">
              <g class="tag">
                <rect rx="4" />
                <text>{pin.choice.kind === 'dock' ? '⚡' : isolated(shorten(pin.label, MAX_LABEL_CHARS))}</text>
              </g>
            </g>
          </g>
        ))}
      </g>
    </>
  );
});

function pinsOf({ state: { site }, t, f }: Props): readonly PinOf[] {
  const pins: Omit<PinOf, 'id'>[] = [
    ...(site.dock === null ? [] : [{ choice: { kind: 'dock' } as const, label: t.ui.dock, ...site.dock }]),
    ...site.stations.map(({ name, title, xM, yM }) => ({
      ...{ choice: { kind: 'station', name } as const, label: f.label(name, title), xM, yM },
    })),
  ];
  return pins.map((pin) => ({ ...pin, id: choiceText(pin.choice) }));
}

/** Where gw drives the robot to now. */
function goalOf({ state: { run } }: Props): string | null {
  if (run === null || (run.state !== 'running' && run.state !== 'paused')) return null;
  if (run.kind === 'dock') return choiceText({ kind: 'dock' });
  const name = run.kind === 'tour' ? (run.stations[run.at] ?? null) : run.kind === 'drive' ? run.name : null;
  return name === null ? null : choiceText({ kind: 'station', name });
}

/** By the middle of what is shown of each: where pins lie close, that of the other one may lie above. */
function nearestPin(pins: Element, x: number, y: number): string | null {
  let nearest: { readonly id: string | null; readonly distance: number } = {
    id: null,
    distance: Number.POSITIVE_INFINITY,
  };
  for (const pin of pins.querySelectorAll('[data-pin]')) {
    const shown = pin.querySelector(pin.hasAttribute('data-small') ? '.spot' : 'path');
    const { left, top, width, height } = (shown ?? pin).getBoundingClientRect();
    const distance = Math.hypot(left + width / 2 - x, top + height / 2 - y);
    if (distance < nearest.distance) nearest = { id: pin.getAttribute('data-pin'), distance };
  }
  return nearest.id;
}

function focusPin(from: Element, id: string): void {
  const pin = [...(from.parentElement?.children ?? [])].find((one) => one.getAttribute('data-pin') === id);
  (pin as SVGElement | undefined)?.focus({ preventScroll: true });
}
