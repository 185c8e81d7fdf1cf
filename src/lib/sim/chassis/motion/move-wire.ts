import type { Move } from './moves.ts';

/** The vendor's fail reasons that this robot uses (vendor facts 4, HINWEIS); the texts are a project decision. */
const failReasons: Readonly<Record<number, readonly [name: string, message: string]>> = {
  0: ['None', ''],
  3: ['StartingPointOutOfMap', '起点不在地图内'],
  4: ['EndingPointOutOfMap', '终点不在地图内'],
  5: ['StartingPointNotInGround', '起点不可通行'],
  6: ['EndingPointNotInGround', '终点不可通行'],
  9: ['CalculationFailed', '没有可用路径'],
  15: ['MoveTimeout', '移动超时'],
  100: ['ChargeRetryCountExceeded', '对桩重试次数超限'],
  101: ['ChargeDockDetectionError', '未识别到充电桩'],
  103: ['InvalidChargeDock', '充电桩位置无效'],
  104: ['AlreadyInCharging', '正在充电'],
  1000: ['PlatformAlertError', '系统告警'],
  1003: ['MapChanged', '地图已更换'],
};

export function failReasonName(reason: number): string {
  return failReasons[reason]?.[0] ?? 'Unknown';
}

/** Vendor facts 1.3: the move object with whole seconds; the history lacks the fields of the order. */
export function moveWire(move: Move, form: 'item' | 'full', succeededWord: string): Readonly<Record<string, unknown>> {
  const { order } = move;
  const failed = move.state === 'failed';
  return {
    id: move.id,
    creator: order.creator,
    state: move.state === 'succeeded' ? succeededWord : move.state,
    type: order.type,
    ...(form === 'full' && {
      target_x: order.target_x ?? null,
      target_y: order.target_y ?? null,
      target_z: order.target_z ?? 0,
      target_ori: order.target_ori ?? null,
      target_accuracy: order.target_accuracy ?? null,
      use_target_zone: order.use_target_zone ?? null,
      charge_retry_count: order.charge_retry_count ?? 0,
    }),
    is_charging: move.isCharging,
    fail_reason: failed ? move.failReason : 0,
    fail_reason_str: failed ? failReasonName(move.failReason) : 'None - None',
    fail_message: failed ? (failReasons[move.failReason]?.[1] ?? '') : '',
    create_time: Math.floor(move.createTime),
    last_modified_time: Math.floor(move.modifiedTime),
  };
}
