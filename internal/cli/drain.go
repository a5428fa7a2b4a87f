package cli

type drainCmd struct{ reaching }

// Run implements the command.
func (*drainCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.Drain(r); err != nil {
		return err
	}
	r.people("the node drains: no new tasks, and it ends when its calls have finished\n")
	return nil
}
