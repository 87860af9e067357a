import type { DeviceService } from '../devices/device-service.ts';
import type { SettingsService } from '../platform/settings-service.ts';

/** Devices as configured, without tests. */
export function devicesAsSet(
  settings: SettingsService,
): Pick<DeviceService, 'current' | 'packs' | 'load' | 'onChange'> {
  return {
    get current() {
      return settings.current.device;
    },
    packs: [],
    load: (_, load) => load(settings.current.device, false),
    onChange: (listener) =>
      settings.onChange((now, before) => {
        if (now.device !== before.device) listener();
      }),
  };
}
