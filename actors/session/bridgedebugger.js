// The answer is put into the frame of this call, and nowhere else.
	function stop(id) {
		let answer;
		// A closure keeps it out of the frame, where a compiled function reads nothing anew.
		const given = () => answer;
		debugger;
		return id === undefined ? id : given();
	}
	// Not Math.random, which begins alike in all documents under --random-seed.
	const dice = win.crypto.getRandomValues(new Uint32Array(2)), realm = (dice[0] >>> 0) + '-' + (dice[1] >>> 0);
	let count = 0;
	const newID = () => realm + '.' + ++count;
	const wait = (text, id) => {
		// Whoever resumes a page without an answer, be it by leaving it, is asked again
		// or leaves it to the next.
		for (let i = 0; i < 3; i++) {
			const answer = apply(stop, text, [id]);
			if (answer !== undefined) return answer;
		}
		return false;
	};
	const ready = () => true, again = ready;