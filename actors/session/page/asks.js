(() => {
  // Runs in the page's own world, before its scripts. What it replaces asks the node first, and
  // then does what it did.
  const name = 'NAME', patience = PATIENCE, watches = 'WATCHES';
  const tell = globalThis[name];
  if (typeof tell !== 'function') return;
  delete globalThis[name];
  // A document that has it from before keeps it: its questions are told over the new session too.
  if (!dispatchEvent(new CustomEvent(name, {cancelable: true, detail: ''}))) return;
  const {apply} = Reflect, json = JSON.stringify, later = setTimeout;
  const query = globalThis.Permissions?.prototype.query, states = navigator.permissions;
  const open = new Map(), settled = new Set();
  const where = () => ({origin: location.origin, top: location.ancestorOrigins[location.ancestorOrigins.length - 1] ?? location.origin});
  let count = 0;
  const settle = key => {
    const one = open.get(key);
    if (!one) return;
    open.delete(key);
    settled.add(one.names);
    one.goOn();
  };
  addEventListener(name, e => {
    e.stopImmediatePropagation();
    e.preventDefault();
    settle(e.detail);
  }, true);
  const isGranted = async names => {
    for (const one of names) {
      try {
        if ((await apply(query, states, [{name: one}])).state !== 'granted') return false;
      } catch {
        return false;
      }
    }
    return true;
  };
  // permitted ends when the browser may be asked: what it is to say is settled by then.
  const permitted = async list => {
    const names = list.join();
    if (!names || settled.has(names) || await isGranted(list)) return;
    for (const one of open.values()) if (one.names === names) return one.promise;
    const key = String(++count), one = {names};
    one.promise = new Promise(goOn => { one.goOn = goOn; });
    open.set(key, one);
    tell(json({kind: 'permission', key, names, ...where()}));
    later(() => settle(key), patience);
    return one.promise;
  };
  const replace = (of, method, make) => {
    const was = of && Object.getOwnPropertyDescriptor(of, method);
    if (typeof was?.value === 'function') Object.defineProperty(of, method, {...was, value: make(was.value)});
  };
  const ask = (of, method, names) => replace(of, method, original => ({
    async [method](...given) {
      await permitted(names(...given));
      return apply(original, this, given);
    },
  })[method]);
  if (watches.includes('permission')) {
    const places = globalThis.Geolocation?.prototype, watched = new Map();
    let id = 1 << 20;
    replace(places, 'getCurrentPosition', original => function getCurrentPosition(...given) {
      permitted(['geolocation']).then(() => apply(original, this, given));
    });
    replace(places, 'watchPosition', original => function watchPosition(...given) {
      const own = ++id;
      watched.set(own, 0);
      permitted(['geolocation']).then(() => { if (watched.has(own)) watched.set(own, apply(original, this, given)); });
      return own;
    });
    replace(places, 'clearWatch', original => function clearWatch(own) {
      const real = watched.get(own);
      watched.delete(own);
      return apply(original, this, [real || own]);
    });
    ask(globalThis.Notification, 'requestPermission', () => ['notifications']);
    ask(globalThis.MediaDevices?.prototype, 'getUserMedia', of => [of?.video && 'camera', of?.audio && 'microphone'].filter(Boolean));
    ask(globalThis.Clipboard?.prototype, 'read', () => ['clipboard-read']);
    ask(globalThis.Clipboard?.prototype, 'readText', () => ['clipboard-read']);
    ask(globalThis.Navigator?.prototype, 'requestMIDIAccess', of => [of?.sysex ? 'midi-sysex' : 'midi']);
    ask(globalThis.Document?.prototype, 'requestStorageAccess', () => ['storage-access']);
    ask(globalThis.IdleDetector, 'requestPermission', () => ['idle-detection']);
    ask(globalThis, 'getScreenDetails', () => ['window-management']);
    ask(globalThis, 'queryLocalFonts', () => ['local-fonts']);
  }
  if (watches.includes('print')) {
    replace(globalThis, 'print', () => ({print() { tell(json({kind: 'print', ...where()})); }}).print);
  }
})();
