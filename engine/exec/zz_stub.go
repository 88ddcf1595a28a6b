package exec

import (
	"fmt"

	"github.com/wstream/wstream/engine/plan"
)

func (c *compiler) join(n *plan.Join, need attrSet) (*pipe, error)       { return nil, fmt.Errorf("join") }
func (c *compiler) window(n *plan.Window, need attrSet) (*pipe, error)   { return nil, fmt.Errorf("join") }
func (c *compiler) groupState(n *plan.GroupState, need attrSet) (*pipe, error) { return nil, fmt.Errorf("join") }
func (c *compiler) session(n *plan.Aggregate, need attrSet, s bool) (*pipe, error) { return nil, fmt.Errorf("join") }
