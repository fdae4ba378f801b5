extension StatusPage {
    /// Dark on light with a contrast of 7 to 1 or more (WCAG 2.2, 1.4.6).
    static let style = """

        :root { color-scheme: light }
        body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
          max-width: 64rem; margin: 0 auto; padding: 0 1rem 2rem }
        h1 { font-size: 1.6rem; margin: 1.2rem 0 .2rem }
        h2 { font-size: 1.2rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1rem 0 .2rem }
        p { margin: .4rem 0 } a { color: #0b3d91 }
        a:focus-visible, input:focus-visible, button:focus-visible, summary:focus-visible,
          .scroll:focus-visible {
          outline: 3px solid #0b3d91; outline-offset: 2px }
        .skip { position: absolute; left: -100rem } .skip:focus { left: 1rem; top: .5rem;
          background: #fff; padding: .5rem }
        nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: 0;
          padding: .4rem 0; border-bottom: 1px solid #767676 }
        nav a { display: inline-block; padding: .3rem 0 }
        form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center }
        label { flex-basis: 100% }
        input { font: inherit; font-family: monospace; flex: 1 1 14rem; max-width: 26rem;
          padding: .5rem; border: 1px solid #595959; border-radius: 3px; color: inherit }
        button { font: inherit; padding: .5rem 1rem; border: 1px solid #0b3d91;
          border-radius: 3px; background: #0b3d91; color: #fff }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
          gap: .6rem; list-style: none; margin: 0; padding: 0 }
        .tiles li { border: 1px solid #767676; border-radius: 4px; padding: .5rem .8rem }
        .tiles strong { display: block; font-size: 1.6rem; line-height: 1.2 }
        .good { color: #0a5c2b } .bad { color: #8f1414 } .tiles .bad { border-color: #8f1414 }
        .scroll { overflow-x: auto }
        table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem }
        caption { text-align: left; font-weight: 600; padding: .3rem 0 }
        th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0;
          overflow-wrap: break-word }
        tr { border-bottom: 1px solid #c4c4c4 } thead th { border-bottom: 2px solid #767676 }
        tbody th { font-weight: 400 } .facts { width: auto } .facts th { font-weight: 600 }
        .n { text-align: right; font-variant-numeric: tabular-nums }
        .n + td:not(.n), .n + th:not(.n) { padding-left: 1rem }
        code { font-size: .9em } time, .w { white-space: nowrap }
        section > .scroll:only-of-type caption { position: absolute; left: -100rem }
        .chart { display: block; width: 100%; max-width: 40rem; height: auto }
        .s1 { fill: #a34f00 } summary { padding: .3rem 0; cursor: pointer }
        footer { margin-top: 2rem; border-top: 1px solid #767676; color: #404040 }
        @media (max-width: 34rem) { th, td { padding-right: .5rem } body { font-size: 15px } }
        @media print { .skip, nav, form { display: none } }

        """
}
