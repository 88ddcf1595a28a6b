package exec

import (
	"fmt"

	"github.com/wstream/wstream/engine/plan"
)

func (c *compiler) window(n *plan.Window, need attrSet) (*pipe, error) {
	return nil, fmt.Errorf("window")
}
